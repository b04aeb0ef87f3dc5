/// What a context asks to be measured, by columns.
package struct AggregateRequest: Sendable {
  /// A property, by which rows are grouped or which is measured.
  package struct Source: Sendable {
    package let path: RowPath
    package let reading: ColumnReading
  }

  /// One part of what rows are grouped by.
  package struct Key: Sendable {
    package let kind: QueryKind
    package let bucket: KeyBucket?
  }

  package struct Measure: Sendable {
    package let function: MeasureFunction
    /// Which of the values is measured; `nil` where rows are counted.
    package let value: Int?
    package let kind: QueryKind?
  }

  /// The properties to be read of each row: one for each key, then those that are measured, each once.
  package let sources: [Source]
  package let keys: [Key]
  package let measures: [Measure]
}

extension AggregateRequest {
  /// Finds the columns of the key paths that rows are grouped by, and of what is measured.
  ///
  /// - Throws: ``Untranslatable`` for a key path that leads to no column.
  init<Model: PersistentModel>(
    keys: [(keyPath: PartialKeyPath<Model>, bucket: KeyBucket?)],
    measures: [ModelRuntime.Measure<Model>],
    of _: Model.Type
  ) throws(Untranslatable) {
    let descriptor = ModelDescriptor.of(Model.self)
    var sources: [Source] = []
    var places: [PartialKeyPath<Model>: Int] = [:]
    var known: [Key] = []
    for key in keys {
      let source = try Source(key.keyPath, of: descriptor)
      known.append(Key(kind: source.reading.kind, bucket: key.bucket))
      sources.append(source)
    }
    var wanted: [Measure] = []
    for measure in measures {
      guard let keyPath = measure.keyPath else {
        wanted.append(Measure(function: measure.function, value: nil, kind: nil))
        continue
      }
      let place: Int
      if let found = places[keyPath] {
        place = found
      } else {
        sources.append(try Source(keyPath, of: descriptor))
        place = sources.count - 1
        places[keyPath] = place
      }
      let reading = sources[place].reading
      if !measure.function.takes(reading) { throw .value("\(keyPath)") }
      wanted.append(Measure(function: measure.function, value: place, kind: reading.kind))
    }
    self.sources = sources
    self.keys = known
    self.measures = wanted
  }
}

extension AggregateRequest.Source {
  /// Finds the column that a key path leads to.
  init(_ keyPath: AnyKeyPath, of descriptor: ModelDescriptor) throws(Untranslatable) {
    let found = try SortSource(keyPath, of: descriptor)
    guard case .column(let path, let reading) = found.source, found.textOrder == nil else {
      throw .property("\(keyPath)")
    }
    self.init(path: path, reading: reading)
  }
}

extension MeasureFunction {
  /// Whether the function makes sense of the values of a column.
  fileprivate func takes(_ reading: ColumnReading) -> Bool {
    switch self {
    case .count, .distinct: true
    // The order of an enumeration is in its `<`, not in its raw values.
    case .minimum, .maximum: reading.kind.isOrdered && reading.enumeration == nil
    case .sum, .moments, .distribution:
      (reading.kind.isNumeric || reading.kind == .date) && reading.enumeration == nil
    }
  }
}
