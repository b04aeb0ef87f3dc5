/// Reads a value from the objects under evaluation.
typealias ObjectReader<Value> = (ObjectScope) throws -> Value

/// Tests whether the objects under evaluation match.
typealias ObjectTest = (ObjectScope) throws -> Bool

/// The objects an expression is evaluated on: the tested one, then the members of the lists whose closures
/// are being evaluated, from the outermost one inwards.
///
/// It corresponds to the current row and ``QueryScope`` for rows.
final class ObjectScope {
  @safe @exclusivity(unchecked) private var models: [any PersistentModel] = []

  subscript(level: Int) -> any PersistentModel { models[level] }

  /// Pushes an object as the next level while a closure runs.
  func nesting<R>(_ model: any PersistentModel, _ body: () throws -> R) rethrows -> R {
    models.append(model)
    defer { models.removeLast() }
    return try body()
  }
}
