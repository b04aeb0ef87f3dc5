#if !canImport(Darwin)
public import Foundation

// The string operations that `#Predicate` accepts and for which Foundation on Linux has no nodes.
// Names and members are those of Foundation on Apple's platforms.

extension PredicateExpressions {
  /// Whether a text contains another in a user's sense: ignoring case and diacritics.
  public struct StringLocalizedStandardContains<Root, Other>: PredicateExpression
  where
    Root: PredicateExpression,
    Other: PredicateExpression,
    Root.Output: StringProtocol,
    Other.Output: StringProtocol
  {
    /// Whether the text is contained.
    public typealias Output = Bool

    /// The text that is searched.
    public let root: Root
    /// The text that is looked for.
    public let other: Other

    /// Makes the test.
    public init(root: Root, other: Other) {
      self.root = root
      self.other = other
    }

    /// Compares the values that both sides have.
    public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
      try root.evaluate(bindings).localizedStandardContains(other.evaluate(bindings))
    }
  }

  /// The order of two texts, regardless of case.
  public struct StringCaseInsensitiveCompare<Root, Other>: PredicateExpression
  where
    Root: PredicateExpression,
    Other: PredicateExpression,
    Root.Output: StringProtocol,
    Other.Output: StringProtocol
  {
    /// The order of the two texts.
    public typealias Output = ComparisonResult

    /// The text on the left.
    public let root: Root
    /// The text on the right.
    public let other: Other

    /// Makes the comparison.
    public init(root: Root, other: Other) {
      self.root = root
      self.other = other
    }

    /// Compares the values that both sides have.
    public func evaluate(_ bindings: PredicateBindings) throws -> ComparisonResult {
      try root.evaluate(bindings).caseInsensitiveCompare(other.evaluate(bindings))
    }
  }

  /// The order of two texts in the user's language.
  public struct StringLocalizedCompare<Root, Other>: PredicateExpression
  where
    Root: PredicateExpression,
    Other: PredicateExpression,
    Root.Output: StringProtocol,
    Other.Output: StringProtocol
  {
    /// The order of the two texts.
    public typealias Output = ComparisonResult

    /// The text on the left.
    public let root: Root
    /// The text on the right.
    public let other: Other

    /// Makes the comparison.
    public init(root: Root, other: Other) {
      self.root = root
      self.other = other
    }

    /// Compares the values that both sides have.
    public func evaluate(_ bindings: PredicateBindings) throws -> ComparisonResult {
      try root.evaluate(bindings).localizedCompare(other.evaluate(bindings))
    }
  }
}

// MARK: Builders that `#Predicate` calls

extension PredicateExpressions {
  /// Makes the node of `localizedStandardContains(_:)`.
  public static func build_localizedStandardContains<Root, Other>(
    _ root: Root,
    _ other: Other
  ) -> StringLocalizedStandardContains<Root, Other> {
    StringLocalizedStandardContains(root: root, other: other)
  }

  /// Makes the node of `caseInsensitiveCompare(_:)`.
  public static func build_caseInsensitiveCompare<Root, Other>(
    _ root: Root,
    _ other: Other
  ) -> StringCaseInsensitiveCompare<Root, Other> {
    StringCaseInsensitiveCompare(root: root, other: other)
  }

  /// Makes the node of `localizedCompare(_:)`.
  public static func build_localizedCompare<Root, Other>(
    _ root: Root,
    _ other: Other
  ) -> StringLocalizedCompare<Root, Other> {
    StringLocalizedCompare(root: root, other: other)
  }
}

// MARK: Conformances

extension PredicateExpressions.StringLocalizedStandardContains: Sendable
where Root: Sendable, Other: Sendable {}
extension PredicateExpressions.StringCaseInsensitiveCompare: Sendable
where Root: Sendable, Other: Sendable {}
extension PredicateExpressions.StringLocalizedCompare: Sendable
where Root: Sendable, Other: Sendable {}

extension PredicateExpressions.StringLocalizedStandardContains: Codable
where Root: Codable, Other: Codable {}
extension PredicateExpressions.StringCaseInsensitiveCompare: Codable
where Root: Codable, Other: Codable {}
extension PredicateExpressions.StringLocalizedCompare: Codable
where Root: Codable, Other: Codable {}

extension PredicateExpressions.StringLocalizedStandardContains: StandardPredicateExpression
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}
extension PredicateExpressions.StringCaseInsensitiveCompare: StandardPredicateExpression
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}
extension PredicateExpressions.StringLocalizedCompare: StandardPredicateExpression
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}
#endif
