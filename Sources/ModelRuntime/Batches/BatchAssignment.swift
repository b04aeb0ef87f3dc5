import Foundation
import RowFormat

/// The new value that a batch gives one property of each model.
///
///     try context.batchUpdate(
///       Flight.self, where: #Predicate { $0.carrier == "US" },
///       .set(\.carrier, to: "AA"), .add(5, to: \.departureDelay))
public struct BatchAssignment<Model: PersistentModel> {
  let keyPath: PartialKeyPath<Model>
  /// Makes the writer of the new values in rows.
  let makeWriter: (BatchTarget) throws -> any BatchWriter
  /// Does the same to an object.
  let apply: (Model) throws -> Void
  /// The added number, if the assignment is a plain addition.
  var addition: NumberAddition?
}

extension BatchAssignment {
  /// Gives a property a value.
  ///
  /// A model whose to-one relationship is set to what it was keeps its place in the list at the other end.
  public static func set<Value>(
    _ property: ReferenceWritableKeyPath<Model, Value>,
    to value: Value
  ) -> BatchAssignment {
    BatchAssignment(
      keyPath: property,
      makeWriter: { ConstantWriter(column: try $0.column(property), value: value) },
      apply: { $0[keyPath: property] = counterpart(of: value, in: $0.modelContext) ?? value }
    )
  }

  /// Transforms a property's value.
  ///
  /// - Parameters:
  ///   - property: A property that is stored as a plain value: a number, a date, a text, a Boolean, a UUID, data.
  ///   - transform: Computes the new value from the old one; an error it throws ends the batch. Called again if another context
  ///     saved another value before the batch commits.
  /// - Returns: The assignment.
  public static func change<Value>(
    _ property: ReferenceWritableKeyPath<Model, Value>,
    _ transform: @escaping (Value) throws -> Value
  ) -> BatchAssignment {
    BatchAssignment(
      keyPath: property,
      makeWriter: { target in
        guard let type = columnType(Value.self) else {
          throw target.notPlain(property)
        }
        return try target.transforming(property, type, transform)
      },
      apply: { $0[keyPath: property] = try transform($0[keyPath: property]) }
    )
  }

  /// Adds to a number, as `+=` does.
  ///
  /// It is added to the value stored when the batch commits, as `add(_:to:)` of a model does.
  /// A sum that the type cannot hold throws ``SwiftDataError/aggregateOverflow``; nothing wraps.
  public static func add<Value: FixedWidthInteger>(
    _ amount: Value,
    to property: ReferenceWritableKeyPath<Model, Value>
  ) -> BatchAssignment {
    adding(
      NumberAddition(amount),
      change(property) { try $0.adding(amount, to: name(of: property)) }
    )
  }

  /// Adds to a number, as `+=` does.
  ///
  /// It is added to the value stored when the batch commits, as `add(_:to:)` of a model does.
  public static func add<Value: BinaryFloatingPoint>(
    _ amount: Value,
    to property: ReferenceWritableKeyPath<Model, Value>
  ) -> BatchAssignment {
    adding(NumberAddition(amount), change(property) { $0 + amount })
  }

  /// Adds to a number where there is one; nil stays nil.
  public static func add<Value: FixedWidthInteger>(
    _ amount: Value,
    to property: ReferenceWritableKeyPath<Model, Value?>
  ) -> BatchAssignment {
    adding(
      NumberAddition(amount),
      change(property) { try $0?.adding(amount, to: name(of: property)) }
    )
  }

  /// Adds to a number where there is one; nil stays nil.
  public static func add<Value: BinaryFloatingPoint>(
    _ amount: Value,
    to property: ReferenceWritableKeyPath<Model, Value?>
  ) -> BatchAssignment {
    adding(NumberAddition(amount), change(property) { $0.map { $0 + amount } })
  }
}

extension BatchAssignment {
  /// Returns the assignment, marked as the addition of a number.
  private static func adding(
    _ amount: NumberAddition?,
    _ assignment: BatchAssignment
  ) -> BatchAssignment {
    var assignment = assignment
    assignment.addition = amount
    return assignment
  }

  /// The name of a property in error messages.
  private static func name(of property: PartialKeyPath<Model>) -> String {
    let model = ModelDescriptor.of(Model.self)
    let name = model.ownOrInheritedProperty(for: property)?.name ?? "\(property)"
    return "\(model.entityName).\(name)"
  }
}

extension FixedWidthInteger {
  fileprivate func adding(_ amount: Self, to property: @autoclosure () -> String) throws -> Self {
    let (sum, overflow) = addingReportingOverflow(amount)
    if overflow {
      throw SwiftDataError.aggregateOverflow.explained(
        "\(property()): \(self) + \(amount) is no \(Self.self)"
      )
    }
    return sum
  }
}

/// A context's own object for a stored model of another context; `nil` for any other value.
private func counterpart<Value>(of value: Value, in context: ModelContext?) -> Value? {
  let wrapped = (value as? any AnyOptional)?.wrappedValue ?? value
  guard let context, let model = wrapped as? any PersistentModel, model.modelContext !== context,
    model._$state.flags.contains(.stored)
  else { return nil }
  return context.model(for: model.persistentModelID) as? Value
}

/// Writes the new value of one property of a row.
protocol BatchWriter {
  var property: ModelProperty { get }
  /// Whether the new value is the same in every row.
  var isConstant: Bool { get }
  func write(_ row: _RowView, into encoder: inout _RowEncoder) throws
}

private struct ConstantWriter<Value>: BatchWriter {
  let column: BatchColumn<Value>
  let value: Value
  var property: ModelProperty { column.property }
  var isConstant: Bool { true }

  func write(_ row: _RowView, into encoder: inout _RowEncoder) throws {
    try column.write(value, into: &encoder)
  }
}

private struct TransformingWriter<Value, Column: _ColumnValue>: BatchWriter {
  let column: BatchColumn<Value>
  let transform: (Value) throws -> Value
  var property: ModelProperty { column.property }
  var isConstant: Bool { false }

  func write(_ row: _RowView, into encoder: inout _RowEncoder) throws {
    let old = Column._decode(row, property.ordinal)
    // The same type under another name: the cast was made when the writer was.
    let new = try unsafe transform(unsafeBitCast(old, to: Value.self))
    try unsafe unsafeBitCast(new, to: Column.self).write(into: &encoder, column.position)
  }
}

extension _ColumnValue {
  fileprivate func write(into encoder: inout _RowEncoder, _ position: Int) throws {
    _encode(into: &encoder, position)
  }
}

/// The class, the store and the column position that an assignment writes to.
struct BatchTarget {
  let descriptor: ModelDescriptor
  let connection: StoreConnection
  let position: Int

  func column<Value>(_ keyPath: AnyKeyPath) throws -> BatchColumn<Value> {
    try BatchColumn(keyPath, at: position, of: descriptor, in: connection)
  }

  fileprivate func transforming<Value, Column: _ColumnValue>(
    _ keyPath: AnyKeyPath,
    _: Column.Type,
    _ transform: @escaping (Value) throws -> Value
  ) throws -> any BatchWriter {
    let column: BatchColumn<Value> = try column(keyPath)
    // A value in a side file, or behind a transformer, is not in the row.
    guard column.property.columnType == Column._columnType, !column.property.isTransformed else {
      throw notPlain(keyPath)
    }
    return TransformingWriter<Value, Column>(column: column, transform: transform)
  }

  fileprivate func notPlain(_ keyPath: AnyKeyPath) -> SwiftDataError {
    SwiftDataError.unsupportedKeyPath.explained(
      "\(descriptor.words(for: keyPath)) is not stored as a plain value, which a batch could change: set it, or change the objects",
      entity: descriptor.entityName
    )
  }
}
