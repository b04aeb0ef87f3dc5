import Foundation

/// The value that a sort's key path reads: of the model, or of one at the end of references.
struct SortSource: Sendable {
  let source: RowOrdering.Source
  /// The comparison of the value as text of the user's language, if any.
  let textOrder: TextOrder?

  /// Resolves a key path.
  init(_ keyPath: AnyKeyPath, of descriptor: ModelDescriptor) throws(Untranslatable) {
    let start = RowPath(level: 0, descriptor: descriptor)
    if let property = descriptor.ownOrInheritedProperty(for: keyPath) {
      source = try Self.column(property, start)
      textOrder = nil
    } else if isIdentifier(keyPath, of: descriptor.type) {
      source = .identifier(start)
      textOrder = nil
    } else {
      guard let steps = KeyPathStep.steps(of: keyPath),
        let (source, rest) = try Self.follow(steps[...], start)
      else { throw .property("\(keyPath)") }
      self.source = source
      textOrder = rest.isEmpty ? nil : TextOrder(lastStep: rest)
      if !rest.isEmpty && textOrder == nil { throw .property("\(keyPath)") }
    }
  }

  private static func column(
    _ property: ModelProperty,
    _ path: RowPath
  ) throws(Untranslatable) -> RowOrdering.Source {
    guard let reading = ColumnReading(property) else { throw .value(property.name) }
    return .column(path, reading)
  }

  /// Follows steps through the properties of the classes they pass.
  ///
  /// - Parameters:
  ///   - steps: The steps.
  ///   - path: The path that the steps begin at.
  /// - Returns: Their result, and the steps that follow; `nil` if they leave the stored properties.
  /// - Throws: ``Untranslatable/value(_:)`` for a property whose values have no order in a row.
  private static func follow(
    _ steps: ArraySlice<KeyPathStep>,
    _ path: RowPath
  ) throws(Untranslatable) -> (source: RowOrdering.Source, rest: ArraySlice<KeyPathStep>)? {
    guard let first = steps.first else { return nil }
    var rest = steps.dropFirst()
    guard let property = path.descriptor.properties.first(where: { $0.isRead(by: first) }) else {
      let isIdentifier = identifierKeyPaths(of: path.descriptor.type)
        .contains { KeyPathStep.steps(of: $0) == [first] }
      return isIdentifier ? (.identifier(path), rest.dropWrap()) : nil
    }
    switch property.kind {
    case .attribute: return (try column(property, path), rest.dropWrap())
    case .toOne(let destination):
      if property.isOptional {
        guard rest.popFirst() == .chain else { return nil }
      }
      return try follow(rest, path.appending(property, to: .of(destination)))
    case .toMany: return nil
    }
  }
}

extension ArraySlice<KeyPathStep> {
  /// The steps without the one that wraps the result in an optional, which changes nothing in a row.
  fileprivate func dropWrap() -> Self { first == .wrap ? dropFirst() : self }
}

extension ModelProperty {
  /// Whether a step of a key path reads the property.
  fileprivate func isRead(by step: KeyPathStep) -> Bool {
    KeyPathStep.steps(of: keyPath) == [step]
  }
}

extension ModelDescriptor {
  /// The property of a key path, inherited ones included.
  ///
  /// `\Sub.title` and `\Base.title` are different key paths of the same step, and only the latter is known.
  package func ownOrInheritedProperty(for keyPath: AnyKeyPath) -> ModelProperty? {
    if let property = property(for: keyPath) { return property }
    guard let superclass, let steps = KeyPathStep.steps(of: keyPath), steps.count == 1 else {
      return nil
    }
    return superclass.properties.first { $0.isRead(by: steps[0]) }
  }
}

/// Whether a key path is `persistentModelID`, or `id` if that is the same.
func isIdentifier(_ keyPath: AnyKeyPath, of type: any PersistentModel.Type) -> Bool {
  identifierKeyPaths(of: type).contains(keyPath)
}

private func identifierKeyPaths<M: PersistentModel>(of _: M.Type) -> [AnyKeyPath] {
  // `id` exists under two names: the models' own, and, in generic code, Identifiable's.
  let own: KeyPath<M, PersistentIdentifier> = \.id
  let names: [AnyKeyPath] = [\M.persistentModelID, own]
  return M.ID.self == PersistentIdentifier.self ? names + [\M.id] : names
}
