/// Reads a value from the objects under evaluation.
typealias ObjectReader<Value> = (ObjectScope) throws -> Value

/// Says whether the objects under evaluation match.
typealias ObjectTest = (ObjectScope) throws -> Bool

/// The objects an expression is evaluated on: the one that is tested, then the members of the lists whose closures
/// are being evaluated, from the outermost one inwards.
///
/// It is to objects what the row at hand and ``QueryScope`` are to rows.
final class ObjectScope {
  @safe @exclusivity(unchecked) private var models: [any PersistentModel] = []

  subscript(level: Int) -> any PersistentModel { models[level] }

  /// Makes an object the one of the next level while a closure runs.
  func nesting<R>(_ model: any PersistentModel, _ body: () throws -> R) rethrows -> R {
    models.append(model)
    defer { models.removeLast() }
    return try body()
  }
}
