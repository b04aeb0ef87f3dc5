/// What a context asks to be measured, by columns.
package struct AggregateRequest: Sendable {
  /// A value of each row, by which rows are grouped or which is measured.
  package struct Source: Sendable {
    /// `nil` where only objects can tell.
    package let expression: QueryExpression?
    package let kind: QueryKind

    /// Where the value is a column as it is.
    package var column: (path: RowPath, reading: ColumnReading)? {
      if case .column(let path, let reading) = expression { (path, reading) } else { nil }
    }
  }

  /// One part of what rows are grouped by.
  package struct Key: Sendable {
    package let kind: QueryKind
    package let bucket: KeyBucket?
  }

  package struct Measure: Equatable, Sendable {
    package let function: MeasureFunction
    /// Which of the values is measured; `nil` where rows are counted.
    package let value: Int?
    package let kind: QueryKind?
  }

  /// The properties to be read of each row: one for each key, then those that are measured, each once.
  package let sources: [Source]
  package let keys: [Key]
  /// What is found out, each once.
  package let measures: [Measure]
  /// Which of the measures answers each question: a sum and a mean of one property are one measure.
  let places: [Int]

  /// Whether rows tell all of it.
  var isAboutRows: Bool { sources.allSatisfy { $0.expression != nil } }
}

extension AggregateRequest {
  /// Finds what is read of each row, to group rows and to measure them.
  ///
  /// - Parameters:
  ///   - keys: What rows are grouped by.
  ///   - measures: What is measured.
  ///   - values: Becomes the values that the sources stand for, in their order.
  /// - Throws: ``Untranslatable`` for a key path that leads to no column, or an expression of a type without an order.
  init<Model: PersistentModel>(
    keys: [(value: MeasuredValue<Model>, bucket: KeyBucket?)],
    measures: [ModelRuntime.Measure<Model>],
    _ values: inout [MeasuredValue<Model>]
  ) throws(Untranslatable) {
    values = keys.map(\.value)
    var sources: [Source] = []
    var places: [PartialKeyPath<Model>: Int] = [:]
    var known: [Key] = []
    for key in keys {
      let source = try key.value.source()
      known.append(Key(kind: source.kind, bucket: key.bucket))
      sources.append(source)
    }
    var wanted: [Measure] = []
    var answers: [Int] = []
    func add(_ measure: Measure) {
      let known = wanted.firstIndex(of: measure)
      if known == nil { wanted.append(measure) }
      answers.append(known ?? wanted.count - 1)
    }
    for measure in measures {
      guard let value = measure.value else {
        add(Measure(function: measure.function, value: nil, kind: nil))
        continue
      }
      let place: Int
      if let found = value.keyPath.flatMap({ places[$0] }) {
        place = found
      } else {
        sources.append(try value.source())
        values.append(value)
        place = sources.count - 1
        if let keyPath = value.keyPath { places[keyPath] = place }
      }
      let source = sources[place]
      if !measure.function.takes(source) { throw .value(value.name) }
      add(Measure(function: measure.function, value: place, kind: source.kind))
    }
    self.sources = sources
    self.keys = known
    self.measures = wanted
    self.places = answers
  }
}

extension AggregateRequest.Source {
  /// Finds the column that a key path leads to.
  init(_ keyPath: AnyKeyPath, of descriptor: ModelDescriptor) throws(Untranslatable) {
    let found = try SortSource(keyPath, of: descriptor)
    guard case .column(let path, let reading) = found.source, found.textOrder == nil else {
      throw .property("\(keyPath)")
    }
    self.init(expression: .column(path, reading), kind: reading.kind)
  }
}

extension MeasureFunction {
  /// Whether the function makes sense of the values of a source.
  fileprivate func takes(_ source: AggregateRequest.Source) -> Bool {
    let isEnumeration = source.column?.reading.enumeration != nil
    return switch self {
    case .count, .distinct: true
    // The order of an enumeration is in its `<`, not in its raw values.
    case .minimum, .maximum: source.kind.isOrdered && !isEnumeration
    case .sum, .moments, .distribution:
      (source.kind.isNumeric || source.kind == .date) && !isEnumeration
    }
  }
}
