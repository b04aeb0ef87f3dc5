#if !canImport(Darwin)
public import Foundation

/// A text that is looked up when it is shown: its key and its table.
///
///     static let title: LocalizedStringResource = "Trips"
///     print(String(localized: title))
public struct LocalizedStringResource: ExpressibleByStringInterpolation, Hashable, Sendable,
  CustomLocalizedStringResourceConvertible
{
  /// The key to look up.
  public let key: String
  /// The text to use without a table, or an entry in it.
  public let defaultValue: String.LocalizationValue
  /// The file `TABLE.strings` of the program's bundle; `Localizable.strings` if `nil`.
  public let table: String?
  /// The locale whose digits and separators format numbers.
  public var locale: Locale

  /// The resource itself.
  public var localizedStringResource: LocalizedStringResource { self }

  public init(stringLiteral value: String) { self.init(String.LocalizationValue(value)) }

  public init(stringInterpolation: String.LocalizationValue.StringInterpolation) {
    self.init(String.LocalizationValue(stringInterpolation: stringInterpolation))
  }

  /// Makes a resource of a text that is also the key.
  public init(
    _ keyAndValue: String.LocalizationValue,
    table: String? = nil,
    locale: Locale = .current,
    comment: StaticString? = nil
  ) {
    key = keyAndValue.key
    defaultValue = keyAndValue
    self.table = table
    self.locale = locale
  }

  /// Makes a resource of a text that has a separate key.
  public init(
    _ key: StaticString,
    defaultValue: String.LocalizationValue,
    table: String? = nil,
    locale: Locale = .current,
    comment: StaticString? = nil
  ) {
    self.key = "\(key)"
    self.defaultValue = defaultValue
    self.table = table
    self.locale = locale
  }
}

/// A type with a text to show.
public protocol CustomLocalizedStringResourceConvertible {
  /// The text to show for the value.
  var localizedStringResource: LocalizedStringResource { get }
}

extension String {
  /// Looks a text up.
  public init(localized resource: LocalizedStringResource) {
    self.init(
      looking: resource.key,
      resource.defaultValue,
      resource.table,
      nil,
      resource.locale
    )
  }
}
#endif
