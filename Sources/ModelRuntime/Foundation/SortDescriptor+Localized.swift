#if !canImport(Darwin)
public import Foundation

// A `SortDescriptor` of Foundation on Linux compares texts by `<` only, and accepts no other
// comparator. It accepts any `Comparable` property: so the text's key path is extended by a
// property whose `<` is the requested comparison, and stores recognise the longer path.
//
// `SortDescriptor(\.name)` stays what it is, a comparison by `<`: a more specific initialiser would
// win over Foundation's, but then `keyPath` would no longer be the path the user wrote.

/// A text as its sort key: ordered by a rule of the user's language.
public struct _LocalizedSortKey: Comparable, Sendable {
  let text: String
  let rule: LocalizedStringComparator.Rule

  public static func < (lhs: _LocalizedSortKey, rhs: _LocalizedSortKey) -> Bool {
    lhs.rule.compare(lhs.text, rhs.text) == .orderedAscending
  }

  public static func == (lhs: _LocalizedSortKey, rhs: _LocalizedSortKey) -> Bool {
    lhs.rule.compare(lhs.text, rhs.text) == .orderedSame
  }
}

extension String {
  var _localizedStandardKey: _LocalizedSortKey {
    _LocalizedSortKey(text: self, rule: .localizedStandard)
  }
  var _localizedKey: _LocalizedSortKey { _LocalizedSortKey(text: self, rule: .localized) }
}

extension String? {
  var _localizedStandardKey: _LocalizedSortKey? { self?._localizedStandardKey }
  var _localizedKey: _LocalizedSortKey? { self?._localizedKey }
}

extension SortDescriptor {
  /// Orders by a text, in the user's language.
  ///
  /// - Parameters:
  ///   - keyPath: The path to the text.
  ///   - comparator: `.localizedStandard` or `.localized`, in either order.
  public init(
    _ keyPath: any KeyPath<Compared, String> & Sendable,
    comparator: LocalizedStringComparator
  ) {
    self.init(keyPath, comparator: comparator, order: comparator.order)
  }

  /// Orders by a text, in the user's language.
  ///
  /// - Parameters:
  ///   - keyPath: The path to the text.
  ///   - comparator: `.localizedStandard` or `.localized`.
  ///   - order: The direction; forward puts the least first.
  public init(
    _ keyPath: any KeyPath<Compared, String> & Sendable,
    comparator: LocalizedStringComparator,
    order: SortOrder
  ) {
    switch comparator.rule {
    case .localizedStandard:
      self.init(prolong(keyPath, by: \String._localizedStandardKey), order: order)
    case .localized:
      self.init(prolong(keyPath, by: \String._localizedKey), order: order)
    }
  }

  /// Orders by an optional text, in the user's language; nil comes first.
  ///
  /// - Parameters:
  ///   - keyPath: The path to the text.
  ///   - comparator: `.localizedStandard` or `.localized`, in either order.
  public init(
    _ keyPath: any KeyPath<Compared, String?> & Sendable,
    comparator: LocalizedStringComparator
  ) {
    self.init(keyPath, comparator: comparator, order: comparator.order)
  }

  /// Orders by an optional text, in the user's language; nil comes first.
  ///
  /// - Parameters:
  ///   - keyPath: The path to the text.
  ///   - comparator: `.localizedStandard` or `.localized`.
  ///   - order: The direction; forward puts the least first.
  public init(
    _ keyPath: any KeyPath<Compared, String?> & Sendable,
    comparator: LocalizedStringComparator,
    order: SortOrder
  ) {
    switch comparator.rule {
    case .localizedStandard:
      self.init(prolong(keyPath, by: \String?._localizedStandardKey), order: order)
    case .localized:
      self.init(prolong(keyPath, by: \String?._localizedKey), order: order)
    }
  }
}

/// Joins two paths.
///
/// A path is `Sendable` if its captures are: these capture nothing, or only what the user's path
/// already captured. The library's `appending` loses that.
private func prolong<Root, Text>(
  _ path: any KeyPath<Root, Text> & Sendable,
  by key: KeyPath<Text, _LocalizedSortKey>
) -> any KeyPath<Root, _LocalizedSortKey> & Sendable {
  unsafe unsafeBitCast(
    path.appending(path: key),
    to: (any KeyPath<Root, _LocalizedSortKey> & Sendable).self
  )
}

private func prolong<Root, Text>(
  _ path: any KeyPath<Root, Text> & Sendable,
  by key: KeyPath<Text, _LocalizedSortKey?>
) -> any KeyPath<Root, _LocalizedSortKey?> & Sendable {
  unsafe unsafeBitCast(
    path.appending(path: key),
    to: (any KeyPath<Root, _LocalizedSortKey?> & Sendable).self
  )
}

// MARK: Recognising the longer paths

extension AnyKeyPath {
  /// Whether this is the path of a sort descriptor that orders in the user's language.
  package var leadsToLocalizedSortKey: Bool {
    let type = Swift.type(of: self).valueType
    return type == _LocalizedSortKey.self || type == _LocalizedSortKey?.self
  }

  /// The order of the texts at `base` in a sort descriptor of this path, or `nil` if it concerns
  /// other texts.
  package func localizedSortRule(over base: AnyKeyPath) -> LocalizedStringComparator.Rule? {
    let keys: [(AnyKeyPath, LocalizedStringComparator.Rule)] = [
      (\String._localizedStandardKey, .localizedStandard), (\String._localizedKey, .localized),
      (\String?._localizedStandardKey, .localizedStandard), (\String?._localizedKey, .localized),
    ]
    return keys.first { base.appending(path: $0.0) == self }?.1
  }
}
#endif
