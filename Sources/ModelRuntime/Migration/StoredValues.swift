package import RowFormat

/// What a store remembers of a property's values, because the type of their column does not say it.
///
/// Columns keep numbers of all sizes alike, references to all classes, and in values with files of their own whatever was
/// encoded.
package enum StoredValues: Hashable, Sendable {
  /// Numbers of a type.
  case numbers(String)
  /// References to rows of an entity, or of those that inherit from it.
  case rows(of: String, including: Set<String>)
  /// Bytes that mean something to the app alone.
  case bytes
  /// Encoded composites.
  case composites

  /// What the values of a property are; `nil` if the type of its column says all.
  package init?(of property: ModelProperty, in families: EntityFamilies) {
    if let destination = property.destination {
      let entity = ModelDescriptor.of(destination).entityName
      self = .rows(of: entity, including: families.members(of: entity))
      return
    }
    switch property.columnType {
    case .integer, .double:
      guard let name = NumberType.name(of: TypeMetadata.unwrapped(property.valueType)) else {
        return nil
      }
      self = .numbers(name)
    case .blob: self.init(in: property.encodedType)
    default: return nil
    }
  }

  /// What the values of a column without a file are, that may get files: `nil` for others.
  package init?(in type: ColumnType) {
    switch type {
    case .bytes: self = .bytes
    case .structured: self = .composites
    default: return nil
    }
  }
}

// MARK: What a schema makes of them

extension StoredValues {
  /// The types of values of a property that cannot read all of these.
  ///
  /// - Parameters:
  ///   - property: The property.
  ///   - families: The entities of its schema. Those that it lacks may come back: references to their rows are kept.
  /// - Returns: What there is, and what the property declares; `nil` if it can read them.
  package func change(
    to property: ModelProperty,
    in families: EntityFamilies
  ) -> (stored: String, declared: String)? {
    if property.isEphemeral { return nil }
    let own = StoredValues(of: property, in: families) ?? StoredValues(in: property.columnType)
    switch (self, own) {
    case (.numbers(let stored), .numbers(let declared)):
      guard let old = NumberType(named: stored), let new = NumberType(named: declared),
        !new.holds(old)
      else { return nil }
      return (stored, declared)
    case (.rows(let stored, let names), .rows(let declared, let readable)):
      if names.isDisjoint(with: readable) { return (stored, declared) }
      let others = names.subtracting(readable).filter(families.contains)
      return others.min().map { ($0, declared) }
    case (.bytes, .composites): return ("\(ColumnType.bytes)", "\(ColumnType.structured)")
    case (.composites, .bytes): return ("\(ColumnType.structured)", "\(ColumnType.bytes)")
    default: return nil
    }
  }

  /// What there is once a property that can read these has values of its own beside them.
  ///
  /// - Parameters:
  ///   - values: The property's.
  ///   - removed: The entities whose rows are gone.
  /// - Returns: What there is then.
  package func joined(by values: StoredValues, without removed: Set<String>) -> StoredValues {
    switch (self, values) {
    case (.rows(_, let names), .rows(let entity, let own)):
      return .rows(of: entity, including: names.subtracting(removed).union(own))
    case (.numbers(let stored), .numbers(let own)):
      guard let old = NumberType(named: stored), let new = NumberType(named: own),
        old.holds(new), new.holds(old)
      else { return values }
      // Programs that call the same numbers `Int` and `Int64` do not take turns in writing it down.
      return self
    default: return values
    }
  }

  /// The whole numbers that these can be, as columns keep them; `nil` if they can be all.
  package var range: ClosedRange<Int64>? {
    guard case .numbers(let name) = self else { return nil }
    return NumberType(named: name)?.range
  }
}

/// A type of numbers that columns keep in 64 bits.
private enum NumberType {
  case integer(bitWidth: Int, isSigned: Bool)
  case float
  case double

  /// Every such type, with its name as stores write it down.
  private static let all: [(name: String, type: any Any.Type, number: NumberType)] = [
    ("Int", Int.self, .integer(bitWidth: Int.bitWidth, isSigned: true)),
    ("Int8", Int8.self, .integer(bitWidth: 8, isSigned: true)),
    ("Int16", Int16.self, .integer(bitWidth: 16, isSigned: true)),
    ("Int32", Int32.self, .integer(bitWidth: 32, isSigned: true)),
    ("Int64", Int64.self, .integer(bitWidth: 64, isSigned: true)),
    ("UInt", UInt.self, .integer(bitWidth: UInt.bitWidth, isSigned: false)),
    ("UInt8", UInt8.self, .integer(bitWidth: 8, isSigned: false)),
    ("UInt16", UInt16.self, .integer(bitWidth: 16, isSigned: false)),
    ("UInt32", UInt32.self, .integer(bitWidth: 32, isSigned: false)),
    ("UInt64", UInt64.self, .integer(bitWidth: 64, isSigned: false)),
    ("Float", Float.self, .float),
    ("Double", Double.self, .double),
  ]

  init?(named name: String) {
    guard let found = NumberType.all.first(where: { $0.name == name }) else { return nil }
    self = found.number
  }

  /// The name of a type, or `nil` if it is none of numbers.
  static func name(of type: any Any.Type) -> String? { all.first { $0.type == type }?.name }

  /// Whether every value of another type of number is one of this.
  func holds(_ other: NumberType) -> Bool {
    switch (self, other) {
    case (.integer(let width, let isSigned), .integer(let otherWidth, let isOtherSigned)):
      isSigned == isOtherSigned && width >= otherWidth || isSigned && width > otherWidth
    case (.float, .double): false
    default: true
    }
  }

  /// The whole numbers that there are of a type; `nil` if they can be all that a column keeps.
  var range: ClosedRange<Int64>? {
    // Of 64 bits each is one, the unsigned ones too, which are kept as if they had a sign.
    guard case .integer(let bitWidth, let isSigned) = self, bitWidth < Int64.bitWidth else {
      return nil
    }
    let bound = Int64(1) << (isSigned ? bitWidth - 1 : bitWidth)
    return isSigned ? -bound...bound - 1 : 0...bound - 1
  }
}

// MARK: As text

extension StoredValues {
  /// The values as stores write them down: a word, then names, one a line.
  package var text: String {
    switch self {
    case .numbers(let name): "numbers \(name)"
    case .rows(let entity, let names):
      (["rows \(entity)"] + names.subtracting([entity]).sorted()).joined(separator: "\n")
    case .bytes: "bytes"
    case .composites: "composites"
    }
  }

  /// Reads a ``text``; `nil` if it is none.
  package init?(_ text: String) {
    let lines = text.split(separator: "\n").map(String.init)
    let words = lines.first?.split(separator: " ", maxSplits: 1).map(String.init) ?? []
    switch (words.first, words.dropFirst().first) {
    case ("numbers", let name?): self = .numbers(name)
    case ("rows", let name?): self = .rows(of: name, including: Set(lines.dropFirst() + [name]))
    case ("bytes", nil): self = .bytes
    case ("composites", nil): self = .composites
    default: return nil
    }
  }
}

extension ModelProperty {
  /// The type of column that an attribute's values would be in without files of their own.
  fileprivate var encodedType: ColumnType {
    if case .attribute(let codec) = kind { codec.columnType } else { columnType }
  }
}
