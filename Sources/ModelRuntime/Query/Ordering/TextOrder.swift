import Foundation

/// How a sort compares text, if not by `<`.
struct TextOrder: Sendable {
  let compare: @Sendable (String, String) -> ComparisonResult

  init(_ comparator: String.StandardComparator) {
    compare = { comparator.compare($0, $1) }
  }
}

#if canImport(Darwin)
extension TextOrder {
  /// The order that a sort's key path asks for by its last step: none, where comparators say it.
  init?(lastStep: ArraySlice<KeyPathStep>) { nil }
}
#else
extension TextOrder {
  /// The order that a sort's key path asks for by its last step.
  init?(lastStep: ArraySlice<KeyPathStep>) {
    let keys: [(keyPath: AnyKeyPath, rule: LocalizedStringComparator.Rule)] = [
      (\String._localizedStandardKey, .localizedStandard), (\String._localizedKey, .localized),
      (\String?._localizedStandardKey, .localizedStandard), (\String?._localizedKey, .localized),
    ]
    let step = Array(lastStep)
    guard let key = keys.first(where: { KeyPathStep.steps(of: $0.keyPath) == step }) else {
      return nil
    }
    compare = { [rule = key.rule] in rule.compare($0, $1) }
  }
}
#endif
