#if !canImport(Darwin)
public import Foundation

/// Compares texts in the user's language: `.localizedStandard` and `.localized`, which
/// `String.StandardComparator` has on Apple's platforms only.
public struct LocalizedStringComparator: SortComparator, Codable, Sendable {
  package enum Rule: String, Codable, Sendable {
    /// In the order of file lists: numbers by value, "file2" before "file10".
    case localizedStandard
    /// Character by character.
    case localized
  }

  package let rule: Rule
  public var order: SortOrder

  init(_ rule: Rule, order: SortOrder = .forward) {
    self.rule = rule
    self.order = order
  }

  public func compare(_ lhs: String, _ rhs: String) -> ComparisonResult {
    let result = rule.compare(lhs, rhs)
    guard order == .reverse else { return result }
    switch result {
    case .orderedAscending: return .orderedDescending
    case .orderedDescending: return .orderedAscending
    case .orderedSame: return .orderedSame
    }
  }
}

extension LocalizedStringComparator.Rule {
  package func compare(_ lhs: String, _ rhs: String) -> ComparisonResult {
    switch self {
    case .localizedStandard: lhs.localizedStandardCompare(rhs)
    case .localized: lhs.localizedCompare(rhs)
    }
  }
}

extension SortComparator where Self == LocalizedStringComparator {
  /// Orders texts as file lists do: numbers by value, case and accents last.
  public static var localizedStandard: LocalizedStringComparator { .init(.localizedStandard) }
  /// Orders texts character by character, as the user's language does.
  public static var localized: LocalizedStringComparator { .init(.localized) }
}
#endif
