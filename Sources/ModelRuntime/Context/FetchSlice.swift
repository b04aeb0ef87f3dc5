/// The wanted slice of a fetch's models, and the slice of the store's rows needed for it.
struct FetchSlice {
  private let offset: Int
  private let limit: Int?
  /// The first requested row of the store.
  private var start = 0
  /// Number of rows requested beyond the wanted models: some may turn out to be affected.
  private var slack = 0
  /// Number of affected rows before the first requested one.
  private var affectedCount = 0

  init<T>(_ descriptor: FetchDescriptor<T>) {
    offset = max(descriptor.fetchOffset ?? 0, 0)
    limit = descriptor.fetchLimit.flatMap { $0 > 0 ? $0 : nil }
  }

  var hasOffset: Bool { offset > 0 }
  var hasLimit: Bool { limit != nil }

  /// Skips the rows before the first model, wherever a number of added models may be.
  mutating func skip(allBut additionCount: Int) { start = max(offset - additionCount, 0) }

  /// Whether the first model is so far behind the first row that it pays to skip rows, of which so many may be affected.
  func isFar(behind affectedCount: Int) -> Bool { offset / 2 - 32 > affectedCount }

  /// The same, with affected rows before and among the requested ones.
  ///
  /// - Returns: Whether it pays.
  mutating func skip(allBut additionCount: Int, andAffected affectedCount: Int) -> Bool {
    let (count, overflow) = additionCount.addingReportingOverflow(affectedCount)
    if overflow || !isFar(behind: count) { return false }
    skip(allBut: additionCount)
    slack = affectedCount
    return true
  }

  /// Records how many of the skipped rows are affected.
  mutating func discount(_ affectedCount: Int) { self.affectedCount = affectedCount }

  /// Whether the first model is among those from the first requested row on.
  func begins(behind countBefore: Int) -> Bool { start - affectedCount + countBefore <= offset }

  /// Number of requested rows; `nil` for all.
  private var rowLimit: Int? {
    guard let wantedCount else { return nil }
    let (count, overflow) = wantedCount.addingReportingOverflow(slack)
    return overflow ? nil : count
  }

  func request<T>(for descriptor: FetchDescriptor<T>) -> FetchDescriptor<T> {
    var request = descriptor
    request.fetchOffset = start == 0 ? nil : start
    request.fetchLimit = rowLimit
    return request
  }

  /// Whether rows are skipped.
  var skipsRows: Bool { start > 0 }

  /// Number of wanted models, counted from the first requested row.
  private var wantedCount: Int? {
    guard let limit else { return nil }
    let (count, overflow) = limit.addingReportingOverflow(offset - start + affectedCount)
    return overflow ? nil : count
  }

  /// Maximum number of added models that can be wanted, in order, from the first requested row on; `nil` for all.
  var additionLimit: Int? { wantedCount }

  /// Whether a number of models is all that is wanted.
  func isFilled(by count: Int) -> Bool { wantedCount.map { $0 <= count } ?? false }

  /// The last model that can be wanted, of models in order.
  func last<Model>(of models: [Model]) -> Model? { wantedCount.flatMap { models[safe: $0 - 1] } }

  /// Whether wanted rows may follow those of an answer.
  func isTooNarrow(for count: Int, of fetchedCount: Int) -> Bool {
    guard let rowLimit else { return false }
    return fetchedCount == rowLimit && !isFilled(by: count)
  }

  /// Requests a few more rows than are wanted: so many may be affected.
  mutating func allow(for affectedCount: Int) { slack = max(slack, min(affectedCount, 64)) }

  /// Requests more rows.
  ///
  /// - Parameter affectedCount: Maximum number of affected rows.
  mutating func widen(by affectedCount: Int) {
    if slack >= affectedCount { assertionFailure("more than \(affectedCount) rows were affected") }
    slack = slack >= affectedCount ? .max : min(max(4 * slack, rowLimit ?? 0, 64), affectedCount)
  }

  /// Cuts the models to the wanted ones.
  ///
  /// - Parameters:
  ///   - models: The models, from the first requested row.
  ///   - countBefore: The number of added models before that row.
  /// - Returns: The wanted models.
  func slice<Model>(_ models: [Model], behind countBefore: Int = 0) -> [Model] {
    cut(models[...], offset - start + affectedCount - countBefore)
  }

  private func cut<Model>(_ models: ArraySlice<Model>, _ offset: Int) -> [Model] {
    if offset == 0, limit.map({ models.count <= $0 }) ?? true, models.startIndex == 0 {
      return Array(models)
    }
    let rest = models.dropFirst(offset)
    return Array(limit.map { rest.prefix($0) } ?? rest)
  }

  /// Number of wanted models out of a total.
  func count(of all: Int) -> Int { min(max(all - offset, 0), limit ?? .max) }
}
