import Foundation

/// Takes the values of one property, in the order in which a store finds the rows.
package final class ValueColumn {
  private let sink: ValueSink
  private let mismatch: (QueryValue) -> SwiftDataError

  init<Model: PersistentModel, Value>(_ property: KeyPath<Model, Value>) {
    sink = ValueSink(of: Value.self)
    mismatch = { value in
      SwiftDataError.unsupportedKeyPath.explained(
        "\(ModelDescriptor.of(Model.self).words(for: property)) has a value that is not a \(Value.self): \(value)",
        entity: Schema.entityName(for: Model.self)
      )
    }
  }

  /// Appends the value of a row.
  ///
  /// - Throws: ``SwiftDataError/unsupportedKeyPath`` for a value of another type than the property's.
  @inline(__always)
  package func append(_ value: QueryValue) throws {
    if !sink.append(value) { throw mismatch(value) }
  }

  /// Initializes memory with the values, one for each row.
  ///
  /// - Parameters:
  ///   - start: The address of the first row's value.
  ///   - stride: The distance of the rows, in bytes.
  ///   - order: The rows.
  func initialize(_ start: UnsafeMutableRawPointer, stride: Int, _ order: ValueOrder) {
    unsafe sink.initialize(start, stride, order)
  }
}

/// The rows of a result, of those that have been appended to columns.
package struct ValueOrder {
  /// The number of rows.
  package let count: Int
  /// The places of the rows in the columns, in order; `nil` if they are all rows as they were appended.
  private let places: [Int]?

  /// All rows, in the order in which they were appended.
  package init(count: Int) {
    self.count = count
    places = nil
  }

  /// Some of the rows, or all, in the order of their places.
  package init(places: [Int]) {
    count = places.count
    self.places = places
  }

  /// All rows in this order, and behind them as many as have been appended since.
  func followed(by addedCount: Int) -> ValueOrder {
    let all = count + addedCount
    return places.map { ValueOrder(places: $0 + Array(count..<all)) } ?? ValueOrder(count: all)
  }

  /// The place of a row in the columns.
  @inline(__always)
  fileprivate func place(of row: Int) -> Int { places?[row] ?? row }
}

extension ValueOrder {
  /// Makes a tuple of each row's values.
  ///
  /// The columns write into the tuples one after the other: a tuple that is made as a value costs a look-up of its type
  /// for each row, since nothing here knows the types when it is compiled.
  func tuples<each Value>(
    of columns: [ValueColumn],
    _: repeat (each Value).Type
  ) -> [(repeat each Value)] {
    if count == 0 { return [] }
    return unsafe Array(unsafeUninitializedCapacity: count) { tuples, initializedCount in
      guard let start = UnsafeMutableRawPointer(tuples.baseAddress) else { return }
      let stride = MemoryLayout<(repeat each Value)>.stride
      var offset = 0
      var column = 0
      func add<Element>(_: Element.Type) {
        let alignment = MemoryLayout<Element>.alignment
        offset = (offset + alignment - 1) / alignment * alignment
        unsafe columns[column].initialize(start + offset, stride: stride, self)
        offset += MemoryLayout<Element>.size
        column += 1
      }
      repeat add((each Value).self)
      precondition(
        offset == MemoryLayout<(repeat each Value)>.size,
        "the elements of a tuple lie one behind the other"
      )
      initializedCount = count
    }
  }
}

/// Keeps values of one type.
///
/// The functions are compiled for the types that most properties have.
@safe private struct ValueSink {
  /// Appends a value; false if it is not of the type.
  let append: (QueryValue) -> Bool
  /// Initializes memory at an address, of rows at a distance, with the values in an order.
  let initialize: (UnsafeMutableRawPointer, Int, ValueOrder) -> Void

  init<Value>(of type: Value.Type) {
    if let known = Self.known[ObjectIdentifier(type)] {
      self = known()
    } else {
      self.init(QueryValue.conversion(to: type))
    }
  }

  @inline(__always)
  private init<Value>(_ convert: @escaping (QueryValue) -> Value?) {
    let kept = Kept<Value>()
    append = {
      guard let value = convert($0) else { return false }
      kept.values.append(value)
      return true
    }
    unsafe initialize = { start, stride, order in
      unsafe kept.initialize(start, stride, order)
    }
  }

  private final class Kept<Value> {
    @safe @exclusivity(unchecked) var values: [Value] = []

    @inline(__always)
    func initialize(_ start: UnsafeMutableRawPointer, _ stride: Int, _ order: ValueOrder) {
      let values = values
      for row in 0..<order.count {
        let value = values[order.place(of: row)]
        unsafe (start + row * stride).initializeMemory(as: Value.self, to: value)
      }
    }
  }

  private typealias Known = [(ObjectIdentifier, @Sendable () -> ValueSink)]

  @inline(__always)
  private static func known<S: QueryScalar>(_ type: S.Type) -> Known {
    [
      (ObjectIdentifier(S.self), { ValueSink { S(queryValue: $0) } }),
      (
        ObjectIdentifier(S?.self),
        {
          ValueSink { value -> S?? in
            if case .null = value { return .some(nil) }
            return S(queryValue: value).map(Optional.some)
          }
        }
      ),
    ]
  }

  private static let known: [ObjectIdentifier: @Sendable () -> ValueSink] = Dictionary(
    uniqueKeysWithValues: [
      known(Int.self), known(Double.self), known(String.self), known(Bool.self), known(Date.self),
      known(UUID.self), known(URL.self), known(Float.self), known(Int8.self), known(Int16.self),
      known(Int32.self), known(Int64.self), known(UInt.self), known(UInt8.self),
      known(UInt16.self), known(UInt32.self), known(UInt64.self), known(Data.self),
    ].joined()
  )
}
