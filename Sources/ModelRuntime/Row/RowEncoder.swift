public import RowFormat

/// Writes the row of one model after the other; the argument of every generated `_$encode(into:)`.
public struct _RowEncoder: ~Copyable {
  @usableFromInline var writer: RowWriter
  /// The row the model had before, whose unchanged columns are copied.
  @usableFromInline var previous: _RowView
  /// The model being encoded.
  var state: _ModelState?
  /// Names the rows that relationships refer to.
  var references: any ReferenceResolver
  /// What went wrong in the current row: an attribute whose `encode(to:)` threw.
  var failure: (any Error)?

  init(references: any ReferenceResolver) {
    writer = RowWriter()
    previous = _RowView(base: nil, byteCount: 0, layout: _RowEncoder.noColumns)
    self.references = references
  }

  private static let noColumns = RowLayout([])

  /// Starts a row without a previous one.
  mutating func begin(_ layout: RowLayout) {
    failure = nil
    previous = _RowView(base: nil, byteCount: 0, layout: layout)
    writer.begin(layout)
  }

  /// Ends a row that is wanted by itself, and forgets it.
  ///
  /// - Throws: What encoding one of its attributes threw.
  mutating func finishBytes() throws -> [UInt8] {
    let range = writer.finish()
    defer { writer.removeAll() }
    if let failure { throw failure }
    return writer.bytes.extracting(range).withUnsafeBytes { Array($0) }
  }

  /// Copies a column from the previous row: its value has not been touched.
  @inlinable public mutating func keep(_ ordinal: Int) {
    guard let base = previous.base else { return }
    let row = UnsafeRawBufferPointer(start: base, count: previous.byteCount).bytes
    writer.copy(ordinal, from: row, column: ordinal, layout: previous.layout)
  }

  /// Writes a value of a composite type.
  public mutating func set<Value: Codable>(_ ordinal: Int, structured value: Value) {
    do {
      var buffer = ByteBuffer()
      guard try StructuredCoding.encode(value, into: &buffer) == .value else { return }
      writer.append(ordinal, bytes: buffer.bytes)
    } catch {
      failure = failure ?? error
    }
  }

  /// Writes the references of a relationship.
  public mutating func setRelationship(_ ordinal: Int) {
    guard let state else { return }
    state.encodeRelationship(ordinal, into: &self)
  }
}

/// What encoding a relationship asks of the store that the row is for.
protocol ReferenceResolver: AnyObject {
  /// Whether lists are found from their other end, so that they need no column of their own.
  var derivesLists: Bool { get }

  /// The row that stands for a model.
  ///
  /// - Throws: When the model can have no row in this store.
  func reference(to state: _ModelState) throws -> RowReference

  /// What a reference of a row that was read is called in the row being written.
  func name(of reference: RowReference, in connection: StoreConnection?) -> RowReference?

  /// A place behind every place given out before: where the end of a list is.
  func nextRank() -> Int64
}
