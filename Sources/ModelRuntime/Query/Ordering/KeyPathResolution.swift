import Foundation
import Synchronization

extension RowOrdering.Source {
  /// Finds what a sort's key path reads: an attribute, or an identifier, of the model or of one that
  /// references lead to.
  init(_ keyPath: AnyKeyPath, of descriptor: ModelDescriptor) throws(Untranslatable) {
    let start = RowPath(level: 0, descriptor: descriptor)
    if let source = try Self.single(keyPath, start) {
      self = source
      return
    }
    let key = KeyPathName(keyPath: keyPath)
    if let known = Self.resolved.withLock({ $0[key] }) {
      self = known
      return
    }
    guard let steps = StepText(ofKeyPath: keyPath),
      let source = try Self.several(steps, start)
    else { throw .property("\(keyPath)") }
    Self.resolved.withLock { $0[key] = source }
    self = source
  }

  /// Key paths of several steps that have been understood; there are as many as the source has.
  private static let resolved = Mutex<[KeyPathName: RowOrdering.Source]>([:])

  /// A key path as a key; unchecked, because key paths are values that only lack the mark of it.
  private struct KeyPathName: Hashable, @unchecked Sendable { let keyPath: AnyKeyPath }

  private static func single(
    _ keyPath: AnyKeyPath,
    _ path: RowPath
  ) throws(Untranslatable) -> RowOrdering.Source? {
    if let property = path.descriptor.property(for: keyPath) {
      guard let reading = ColumnReading(property) else { throw .value("\(keyPath)") }
      return .column(path, reading)
    }
    return isIdentifier(keyPath, of: path.descriptor.type) ? .identifier(path) : nil
  }

  /// Follows the text of a key path step by step through the properties of the classes it passes.
  private static func several(
    _ steps: StepText,
    _ path: RowPath
  ) throws(Untranslatable) -> RowOrdering.Source? {
    for property in path.descriptor.properties {
      guard let rest = steps.dropping(property.keyPath) else { continue }
      switch property.kind {
      case .attribute:
        guard rest.isEnd else { continue }
        return try single(property.keyPath, path)
      case .toOne(let destination):
        guard let rest = rest.throughReference else { continue }
        return try several(rest, path.appending(property, to: .of(destination)))
      case .toMany: continue
      }
    }
    return identifierKeyPaths(of: path.descriptor.type)
      .contains { steps.dropping($0)?.isEnd == true } ? .identifier(path) : nil
  }
}

/// Whether a key path is `persistentModelID`, or `id` where that is the same.
func isIdentifier(_ keyPath: AnyKeyPath, of type: any PersistentModel.Type) -> Bool {
  identifierKeyPaths(of: type).contains(keyPath)
}

private func identifierKeyPaths<M: PersistentModel>(of _: M.Type) -> [AnyKeyPath] {
  // `id` is found under two names: the one that models have, and, in generic code, Identifiable's.
  let own: KeyPath<M, PersistentIdentifier> = \.id
  let names: [AnyKeyPath] = [\M.persistentModelID, own]
  return M.ID.self == PersistentIdentifier.self ? names + [\M.id] : names
}

/// What is left of a key path's printed form, which names each step by its accessor.
///
///     \Item.<computed 0x5579… (Optional<Folder>)>?.<computed 0x557a… (String)>?
///
/// Swift does not take key paths apart, and two that were put together differently do not compare equal. But
/// the accessors' addresses, or their names, are those of the single steps. Between two images of one process
/// they may differ: then the key path is not understood, and objects are sorted.
private struct StepText {
  private let text: Substring

  init?(ofKeyPath keyPath: AnyKeyPath) {
    let text = "\(keyPath)"
    guard let dot = text.firstIndex(of: ".") else { return nil }
    self.text = text[dot...]
  }

  private init(_ text: Substring) { self.text = text }

  /// What follows a step, if the text begins with it.
  func dropping(_ step: AnyKeyPath) -> StepText? {
    guard let step = StepText(ofKeyPath: step), text.hasPrefix(step.text) else { return nil }
    return StepText(text.dropFirst(step.text.count))
  }

  /// Whether nothing is left but the mark of an optional.
  var isEnd: Bool { text.isEmpty || text == "?" }

  /// What follows the mark of an optional reference, or nothing for one that is not.
  var throughReference: StepText? {
    if text.hasPrefix("?.") { return StepText(text.dropFirst()) }
    return text.hasPrefix(".") ? self : nil
  }
}
