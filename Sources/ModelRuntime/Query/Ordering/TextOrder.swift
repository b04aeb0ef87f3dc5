import Foundation

/// The comparison of text in a sort, if not by `<`.
struct TextOrder: Sendable {
  let compare: @Sendable (String, String) -> ComparisonResult
  /// The name of the order: the same in every process.
  let name: String

  /// The order of a comparator; `nil` for `.lexical`, which is that of `<`.
  init?(_ comparator: String.StandardComparator) {
    if comparator == .lexical { return nil }
    #if !canImport(Darwin)
    if let rule = comparator.localizedRule {
      compare = { rule.compare($0, $1) }
      name = "\(rule.rule.rawValue) \(rule.order == .forward)"
      return
    }
    #endif
    compare = { comparator.compare($0, $1) }
    name = "\(comparator)"
  }
}

#if canImport(Darwin)
extension TextOrder {
  /// The order of a sort's key path, by its last step: none, since comparators define it here.
  init?(lastStep: ArraySlice<KeyPathStep>) { nil }

  /// The texts at the end of such a key path.
  static func texts<T>(
    at keyPath: PartialKeyPath<T>,
    of models: [T]
  ) -> (texts: [String?], order: TextOrder)? { nil }

  /// Reads the text at the end of such a key path.
  static func reader<T>(of keyPath: PartialKeyPath<T>) -> ((T) -> String?)? { nil }
}
#else
extension TextOrder {
  /// The order of a sort's key path, by its last step.
  init?(lastStep: ArraySlice<KeyPathStep>) {
    let keys: [(keyPath: AnyKeyPath, rule: LocalizedStringComparator.Rule)] = [
      (\String._localizedStandardKey, .localizedStandard), (\String._localizedKey, .localized),
      (\String?._localizedStandardKey, .localizedStandard), (\String?._localizedKey, .localized),
    ]
    let step = Array(lastStep)
    guard let key = keys.first(where: { KeyPathStep.steps(of: $0.keyPath) == step }) else {
      return nil
    }
    self.init(key.rule)
  }

  private init(_ rule: LocalizedStringComparator.Rule) {
    compare = { rule.compare($0, $1) }
    name = rule.rawValue
  }

  /// The texts at the end of such a key path, and their order.
  static func texts<T>(
    at keyPath: PartialKeyPath<T>,
    of models: [T]
  ) -> (texts: [String?], order: TextOrder)? {
    let keys: [_LocalizedSortKey?]
    if let keyPath = keyPath as? KeyPath<T, _LocalizedSortKey> {
      keys = models.map { $0[keyPath: keyPath] }
    } else if let keyPath = keyPath as? KeyPath<T, _LocalizedSortKey?> {
      keys = models.map { $0[keyPath: keyPath] }
    } else {
      return nil
    }
    // They all have one rule; without a single text it does not matter which.
    let rule = keys.lazy.compactMap { $0?.rule }.first ?? .localized
    return (keys.map { $0?.text }, TextOrder(rule))
  }

  /// Reads the text at the end of such a key path.
  static func reader<T>(of keyPath: PartialKeyPath<T>) -> ((T) -> String?)? {
    if let keyPath = keyPath as? KeyPath<T, _LocalizedSortKey> {
      return { $0[keyPath: keyPath].text }
    }
    if let keyPath = keyPath as? KeyPath<T, _LocalizedSortKey?> {
      return { $0[keyPath: keyPath]?.text }
    }
    return nil
  }
}
#endif
