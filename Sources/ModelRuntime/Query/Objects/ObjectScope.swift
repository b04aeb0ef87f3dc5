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
  /// The objects at the ends of relationships that were followed last, if they are kept.
  @safe @exclusivity(unchecked) private var ends: [AnyObject] = []
  private let keepsEnds: Bool

  /// - Parameter keepsEnds: Whether objects at the ends of relationships stay in memory for a while: for tests of many objects, which
  ///   often lead to the same ones, and where each would otherwise be made, and its row read, again and again.
  init(keepingEnds keepsEnds: Bool = false) { self.keepsEnds = keepsEnds }

  /// The most objects that are kept.
  private static let endLimit = 16384

  @inline(__always)
  func keep(_ end: any PersistentModel) {
    if !keepsEnds { return }
    if ends.count == Self.endLimit { ends.removeAll(keepingCapacity: true) }
    ends.append(end)
  }

  subscript(level: Int) -> any PersistentModel { models[level] }

  /// Pushes an object as the next level while a closure runs.
  func nesting<R>(_ model: any PersistentModel, _ body: () throws -> R) rethrows -> R {
    models.append(model)
    defer { models.removeLast() }
    return try body()
  }
}
