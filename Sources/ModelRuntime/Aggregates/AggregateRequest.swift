package import RowFormat

/// The measures that a context requests, by columns.
package struct AggregateRequest: Sendable {
  /// A value of each row, by which rows are grouped or which is measured.
  package struct Source: Sendable {
    /// `nil` where only objects can tell.
    package let expression: QueryExpression?
    package let kind: QueryKind

    /// The column, if the value is a plain column.
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
    /// Index of the measured value; `nil` if rows are counted.
    package let value: Int?
    package let kind: QueryKind?
    /// Index of the value that decides which row the value is taken from; `nil` where each row counts.
    package let order: Int?
    package let orderKind: QueryKind?

    fileprivate init(
      function: MeasureFunction,
      value: (place: Int, kind: QueryKind)? = nil,
      order: (place: Int, kind: QueryKind)? = nil
    ) {
      self.function = function
      self.value = value?.place
      kind = value?.kind
      self.order = order?.place
      orderKind = order?.kind
    }
  }

  /// The properties to read of each row: one for each key, then the measured ones, each once.
  package let sources: [Source]
  package let keys: [Key]
  /// The measures, each once.
  package let measures: [Measure]
  /// The measure that answers each question: a sum and a mean of one property are one measure.
  let places: [Int]

  /// Whether rows suffice to compute all of it.
  var isAboutRows: Bool { sources.allSatisfy { $0.expression != nil } }
}

extension AggregateRequest {
  /// Finds the sources for grouping and measuring rows.
  ///
  /// - Parameters:
  ///   - keys: The values that group rows.
  ///   - measures: The measures.
  ///   - values: Receives the values of the sources, in their order.
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
    func place(of value: MeasuredValue<Model>) throws(Untranslatable) -> Int {
      if let known = value.keyPath.flatMap({ places[$0] }) { return known }
      sources.append(try value.source())
      values.append(value)
      if let keyPath = value.keyPath { places[keyPath] = sources.count - 1 }
      return sources.count - 1
    }
    for measure in measures {
      guard let value = measure.value else {
        add(Measure(function: measure.function))
        continue
      }
      let measured = try place(of: value)
      if !measure.function.takes(sources[measured]) { throw .value(value.name) }
      var order: (place: Int, kind: QueryKind)?
      if let deciding = measure.order {
        let found = try place(of: deciding)
        if !sources[found].hasOrder { throw .value(deciding.name) }
        order = (found, sources[found].kind)
      }
      add(
        Measure(
          function: measure.function,
          value: (measured, sources[measured].kind),
          order: order
        )
      )
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

extension AggregateRequest.Source {
  /// Whether its values can be compared.
  fileprivate var hasOrder: Bool {
    // The order of an enumeration is in its `<`, not in its raw values.
    kind.isOrdered && column?.reading.enumeration == nil
  }
}

extension MeasureFunction {
  /// Whether the function applies to the values of a source.
  fileprivate func takes(_ source: AggregateRequest.Source) -> Bool {
    let isEnumeration = source.column?.reading.enumeration != nil
    return switch self {
    case .count, .distinct, .first, .last: true
    case .minimum, .maximum: source.hasOrder
    case .sum, .moments, .distribution:
      (source.kind.isNumeric || source.kind == .date) && !isEnumeration
    }
  }
}

extension [AggregateRequest.Source] {
  /// The columns of a row that the values are read from; `nil` if they are not known.
  package var columns: ColumnSet? {
    var columns = ColumnSet()
    for source in self {
      guard let more = source.expression?.testedColumns else { return nil }
      columns.formUnion(more)
    }
    return columns
  }
}
