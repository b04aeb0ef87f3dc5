#if !canImport(Darwin)
public import Foundation

extension String {
  /// A text as it is looked up in a table: its words and its interpolations.
  ///
  ///     String(localized: "\(count) trips to \(place)")   // looked up as "%lld trips to %@"
  ///     String(localized: "\(used)% of \(total) GB")       // looked up as "%lld%% of %lld GB"
  public struct LocalizationValue: ExpressibleByStringInterpolation, Hashable, Sendable {
    /// The key to look up.
    package let key: String
    let arguments: [LocalizationArgument]

    public init(stringLiteral value: String) {
      key = value
      arguments = []
    }

    /// Makes a text from a key that is known only at run time.
    public init(_ value: String) { self.init(stringLiteral: value) }

    public init(stringInterpolation: StringInterpolation) {
      arguments = stringInterpolation.arguments
      let format = stringInterpolation.key
      // Without interpolations it is a text, not a format.
      key = arguments.isEmpty ? format.replacing("%%", with: "%") : format
    }

    /// Collects the words and the interpolations.
    public struct StringInterpolation: StringInterpolationProtocol, Sendable {
      var key: String
      var arguments: [LocalizationArgument] = []

      public init(literalCapacity: Int, interpolationCount: Int) {
        key = ""
        key.reserveCapacity(literalCapacity + 4 * interpolationCount)
      }

      public mutating func appendLiteral(_ literal: String) {
        // A literal is text, but the key is a format if there are interpolations: as in the tables that
        // Apple's tools make, a percent sign is doubled there.
        key += literal.replacing("%", with: "%%")
      }

      /// A text; `%@` in the key.
      public mutating func appendInterpolation(_ string: some StringProtocol) {
        append("%@", .text(String(string)))
      }

      /// An integer; `%lld` in the key.
      public mutating func appendInterpolation(_ value: some BinaryInteger) {
        append("%lld", .integer(Int64(clamping: value)))
      }

      /// A floating-point number; `%lf` in the key.
      public mutating func appendInterpolation(_ value: some BinaryFloatingPoint) {
        append("%lf", .number(Double(value)))
      }

      /// A number in the form of a specifier, such as `"%.2f"`.
      public mutating func appendInterpolation(_ value: some BinaryInteger, specifier: String) {
        append(specifier, .integer(Int64(clamping: value)))
      }

      /// A number in the form of a specifier, such as `"%.2f"`.
      public mutating func appendInterpolation(
        _ value: some BinaryFloatingPoint,
        specifier: String
      ) {
        append(specifier, .number(Double(value)))
      }

      /// A value in the form that a style gives it.
      public mutating func appendInterpolation<F: FormatStyle>(_ value: F.FormatInput, format: F)
      where F.FormatOutput == String {
        append("%@", .text(format.format(value)))
      }

      /// A text that is looked up by itself; `%@` in the key.
      public mutating func appendInterpolation(_ resource: LocalizedStringResource) {
        append("%@", .text(String(localized: resource)))
      }

      /// The description of any other value; `%@` in the key.
      public mutating func appendInterpolation<T>(_ value: T) {
        append("%@", .text(String(describing: value)))
      }

      private mutating func append(_ specifier: String, _ argument: LocalizationArgument) {
        key += specifier
        arguments.append(argument)
      }
    }

    /// The text, with its interpolations in the places of a format.
    func filled(_ format: String, _ locale: Locale) -> String {
      arguments.isEmpty ? format : LocalizationArgument.fill(format, with: arguments, locale)
    }
  }

  /// Looks a text up, and fills in its interpolations.
  ///
  /// Without a table, or an entry in it, the result is the text itself.
  ///
  /// - Parameters:
  ///   - keyAndValue: The text, which is also the key.
  ///   - table: The file `TABLE.strings` of the bundle; by default `Localizable.strings`.
  ///   - bundle: The bundle of the file; by default, the program's.
  ///   - locale: The locale whose digits and separators format numbers.
  ///   - comment: A hint for translators.
  public init(
    localized keyAndValue: String.LocalizationValue,
    table: String? = nil,
    bundle: Bundle? = nil,
    locale: Locale = .current,
    comment: StaticString? = nil
  ) {
    self.init(looking: keyAndValue.key, keyAndValue, table, bundle, locale)
  }

  /// Looks a text up by a separate key.
  ///
  /// - Parameters:
  ///   - key: The key to look up.
  ///   - defaultValue: The text to use without a table, or an entry in it.
  ///   - table: The file `TABLE.strings` of the bundle; by default `Localizable.strings`.
  ///   - bundle: The bundle of the file; by default, the program's.
  ///   - locale: The locale whose digits and separators format numbers.
  ///   - comment: A hint for translators.
  public init(
    localized key: StaticString,
    defaultValue: String.LocalizationValue,
    table: String? = nil,
    bundle: Bundle? = nil,
    locale: Locale = .current,
    comment: StaticString? = nil
  ) {
    self.init(looking: "\(key)", defaultValue, table, bundle, locale)
  }

  init(
    looking key: String,
    _ value: String.LocalizationValue,
    _ table: String?,
    _ bundle: Bundle?,
    _ locale: Locale
  ) {
    let format = (bundle ?? .main).localizedString(forKey: key, value: value.key, table: table)
    self = value.filled(format, locale)
  }
}

/// An interpolated value of a text.
enum LocalizationArgument: Hashable, Sendable {
  case text(String)
  case integer(Int64)
  case number(Double)

  /// The argument in the form of a specifier: `%@`, `%lld`, `%5.2f`.
  ///
  /// - Returns: `nil` if the specifier does not apply to the value: then the plain form is better.
  private func formed(_ flags: String, _ conversion: Character, _ locale: Locale) -> String? {
    switch (self, conversion) {
    case (.integer(let value), "d"), (.integer(let value), "i"):
      String(format: "%\(flags)lld", locale: locale, value)
    case (.integer(let value), "u"), (.integer(let value), "x"), (.integer(let value), "X"),
      (.integer(let value), "o"):
      String(format: "%\(flags)ll\(conversion)", locale: locale, UInt64(bitPattern: value))
    case (.number(let value), let conversion) where "aAeEfFgG".contains(conversion):
      String(format: "%\(flags)\(conversion)", locale: locale, value)
    default: nil
    }
  }

  private var plain: String {
    switch self {
    case .text(let text): text
    case .integer(let value): "\(value)"
    case .number(let value): "\(value)"
    }
  }

  /// Fills arguments into the places of a format: in order, or by position as in `%2$@`.
  ///
  /// A place for which there is no argument stays as it is.
  static func fill(
    _ format: String,
    with arguments: [LocalizationArgument],
    _ locale: Locale
  ) -> String {
    var result = ""
    var next = 0
    var rest = Substring(format)
    while let percent = rest.firstIndex(of: "%") {
      result += rest[..<percent]
      let after = rest.index(after: percent)
      if after < rest.endIndex, rest[after] == "%" {
        result += "%"
        rest = rest[rest.index(after: after)...]
        continue
      }
      // A position, flags with width and precision, a length, a conversion.
      let specifier = /(?:(\d+)\$)?([-+ #0']*\d*(?:\.\d+)?)(?:hh|ll|[hlqzjtL])?([@a-zA-Z])/
      guard let match = rest[after...].prefixMatch(of: specifier) else {
        result += "%"
        rest = rest[after...]
        continue
      }
      let place = match.1.flatMap { Int($0) }.map { $0 - 1 } ?? next
      if match.1 == nil { next += 1 }
      if arguments.indices.contains(place), let conversion = match.3.first {
        let argument = arguments[place]
        result += argument.formed(String(match.2), conversion, locale) ?? argument.plain
      } else {
        result += rest[percent..<match.range.upperBound]
      }
      rest = rest[match.range.upperBound...]
    }
    return result + rest
  }
}
#endif
