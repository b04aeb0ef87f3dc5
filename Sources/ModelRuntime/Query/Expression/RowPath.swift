/// A path from a row of an expression to another: along to-one references.
package struct RowPath: Sendable {
  /// The result of a read through a step that leads to no row.
  package enum Absence: Sendable {
    /// Nil: the reference is optional.
    case null
    /// Neutral values: a reference that should not be nil leads to no row.
    case neutral
    /// A failure: the user force-unwrapped nil.
    case failure
  }

  /// One step from a row to the row it refers to.
  package struct Step: Sendable {
    package let property: ModelProperty
    package var absence: Absence
  }

  /// The level of the row: 0 for the tested row, 1 for the element of the
  /// list in the outermost closure, and so on inwards.
  package let level: Int
  package private(set) var steps: [Step] = []
  /// The class that the user's code sees at the end of the path.
  package private(set) var descriptor: ModelDescriptor

  init(level: Int, descriptor: ModelDescriptor) {
    self.level = level
    self.descriptor = descriptor
  }

  /// The path extended by a to-one reference.
  func appending(_ property: ModelProperty, to destination: ModelDescriptor) -> RowPath {
    var path = self
    path.steps.append(Step(property: property, absence: property.isOptional ? .null : .neutral))
    path.descriptor = destination
    return path
  }

  /// The path extended by a step of another one; the caller sets its class.
  func appending(_ step: Step) -> RowPath {
    var path = self
    path.steps.append(step)
    return path
  }

  /// The path whose last step fails if there is no row.
  func unwrapped() -> RowPath {
    var path = self
    if !steps.isEmpty { path.steps[steps.count - 1].absence = .failure }
    return path
  }

  /// The path, cast to a subclass; the caller ensures that the cast holds.
  func cast(to descriptor: ModelDescriptor) -> RowPath {
    var path = self
    path.descriptor = descriptor
    return path
  }

  /// The path to the row before the last one; its class is no longer known.
  func droppingLast() -> RowPath {
    var path = self
    path.steps.removeLast()
    return path
  }

  /// Whether this path is a prefix of another one.
  func isPrefix(of other: RowPath) -> Bool {
    level == other.level && steps.count <= other.steps.count
      && zip(steps, other.steps).allSatisfy { $0.property === $1.property }
  }
}

extension [RowPath] {
  /// The paths that no other one leads along.
  var withoutPrefixes: [RowPath] {
    indices.filter { place in
      !indices.contains { other in
        guard other != place, self[place].isPrefix(of: self[other]) else { return false }
        // Of equal ones, the first stays.
        return self[other].steps.count > self[place].steps.count || other < place
      }
    }.map { self[$0] }
  }
}
