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
      guard let type = property.numberType else { return nil }
      self = .numbers("\(type)")
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
      guard let old = StoredValues.numberTypes[stored],
        let new = StoredValues.numberTypes[declared],
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
      guard let old = StoredValues.numberTypes[stored], let new = StoredValues.numberTypes[own],
        old.holds(new), new.holds(old)
      else { return values }
      // Programs that call the same numbers `Int` and `Int64` do not take turns in writing it down.
      return self
    default: return values
    }
  }

  /// The whole numbers that these can be, as columns keep them; `nil` if they can be all.
  package var range: ClosedRange<Int64>? {
    guard case .numbers(let name) = self,
      let type = StoredValues.numberTypes[name] as? any FixedWidthInteger.Type
    else { return nil }
    return StoredValues.range(of: type)
  }

  private static func range<T: FixedWidthInteger>(of _: T.Type) -> ClosedRange<Int64>? {
    // Of 64 bits each is one, the unsigned ones too, which are kept as if they had a sign.
    T.bitWidth < Int64.bitWidth ? Int64(T.min)...Int64(T.max) : nil
  }

  private static let numberTypes: [String: any (Numeric & Sendable).Type] = {
    let types: [any (Numeric & Sendable).Type] = [
      Int.self, Int8.self, Int16.self, Int32.self, Int64.self,
      UInt.self, UInt8.self, UInt16.self, UInt32.self, UInt64.self, Float.self, Double.self,
    ]
    return Dictionary(uniqueKeysWithValues: types.map { ("\($0)", $0) })
  }()
}

extension Numeric {
  /// Whether every value of another type of number is one of this.
  fileprivate static func holds(_ other: any Numeric.Type) -> Bool {
    if let own = Self.self as? any FixedWidthInteger.Type,
      let other = other as? any FixedWidthInteger.Type
    {
      return own.isSigned == other.isSigned && own.bitWidth >= other.bitWidth
        || own.isSigned && own.bitWidth > other.bitWidth
    }
    return !(Self.self == Float.self && other == Double.self)
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
  /// The type of a number, or of one that may be nil.
  fileprivate var numberType: (any Numeric.Type)? {
    let type = Swift.type(of: keyPath).valueType
    return ((type as? any OptionalType.Type)?.wrappedType ?? type) as? any Numeric.Type
  }

  /// The type of column that an attribute's values would be in without files of their own.
  fileprivate var encodedType: ColumnType {
    if case .attribute(let codec) = kind { codec.columnType } else { columnType }
  }
}
