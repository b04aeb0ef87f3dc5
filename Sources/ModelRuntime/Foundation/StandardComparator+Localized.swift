#if !canImport(Darwin)
public import Foundation

// `String.StandardComparator` has only `.lexical` on Linux, and cannot be given another rule: it decodes none, and
// has no initializer. It does have the fields for it. So the two missing comparators are made by writing these
// fields, if they are at their known offsets; a Foundation with another layout most likely has the two
// comparators as well, and then the compiler takes those.
extension String.StandardComparator {
  /// Orders texts as file lists do: numbers by value, case and accents last.
  ///
  /// A `SortDescriptor` of it compares in the user's language. Called directly it compares numbers by value
  /// and ignores case, independently of any language.
  @_disfavoredOverload
  public static var localizedStandard: String.StandardComparator { localizedRules.standard }

  /// Orders texts character by character, as the user's language does.
  ///
  /// A `SortDescriptor` of it compares in the user's language; called directly it is language-independent.
  @_disfavoredOverload
  public static var localized: String.StandardComparator { localizedRules.plain }

  private static let localizedRules = (
    standard: localized(by: [.caseInsensitive, .numeric, .forcedOrdering]),
    plain: localized(by: [])
  )

  private static func localized(by options: String.CompareOptions) -> String.StandardComparator {
    var comparator = String.StandardComparator.lexical
    let fields = Mirror(reflecting: comparator).children.map { $0.label ?? "" }
    guard fields == ["options", "isLocalized", "order"],
      MemoryLayout<String.CompareOptions>.size == 8,
      MemoryLayout<String.StandardComparator>.size == 10
    else { return comparator }
    unsafe withUnsafeMutableBytes(of: &comparator) { bytes in
      unsafe bytes.storeBytes(of: options, as: String.CompareOptions.self)
      unsafe bytes.storeBytes(of: true, toByteOffset: 8, as: Bool.self)
    }
    return comparator
  }

  /// The rule of the comparator; `nil` for one that compares by `<`.
  package var localizedRule: LocalizedStringComparator? {
    var forward = self
    forward.order = .forward
    // With another layout of the fields, all three are equal.
    if forward == .lexical { return nil }
    if forward == Self.localizedRules.standard { return .init(.localizedStandard, order: order) }
    if forward == Self.localizedRules.plain { return .init(.localized, order: order) }
    return nil
  }
}
#endif
