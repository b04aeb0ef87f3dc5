package import RowFormat

/// The derived columns of a store's tables, with their sources.
package struct StoreDerivations: Sendable {
  /// A derived column that counts or sums the rows of a table, as members of a list of other rows.
  package struct MemberRule: Hashable, Sendable {
    /// The member's column that names the owner of the list.
    package let reference: Int
    /// The member's column that is summed; `nil` if members are counted.
    package let summand: Int?
    /// The owner's column, whose position sibling classes may use for totals of their own.
    package let column: Int
    /// How the values are added up.
    package let arithmetic: SumArithmetic
    /// The member's property: members of other classes may name their owners in a column of the same position.
    let end: ObjectIdentifier

    package func hash(into hasher: inout Hasher) {
      hasher.combine(reference)
      hasher.combine(summand)
      hasher.combine(column)
    }
  }

  /// The derived columns of the rows of a table.
  package struct OwnRules: Sendable {
    /// Counts and sums over lists whose members name their owner.
    package var totals: [Total] = []
    /// Lengths of lists that are stored in the row.
    package var lengths: [(list: Int, column: Int)] = []
    /// Canonical forms of texts.
    package var texts: [(text: Int, column: Int)] = []
    /// The times of the row's last write.
    package var dates: [Int] = []
  }

  /// A derived column that is computed from other rows.
  package struct Total: Sendable {
    package let property: ModelProperty
    /// The columns that name the owner, and what is added up, in the tables of the members.
    package let rule: MemberRule
    /// The tables of the members.
    package let tables: [UInt16]

    package var column: Int { property.ordinal }
    package var arithmetic: SumArithmetic { rule.arithmetic }
  }

  package private(set) var members: [UInt16: [MemberRule]] = [:]
  package private(set) var owners: [UInt16: OwnRules] = [:]

  /// A table's number, and the class of its rows.
  package typealias Table = (number: UInt16, descriptor: ModelDescriptor)

  /// - Returns: `nil` if no class has a derived attribute.
  package init?(_ tables: [Table]) {
    guard tables.contains(where: \.descriptor.isDeriving) else { return nil }
    for table in tables where table.descriptor.isDeriving { add(table, among: tables) }
  }

  private mutating func add(_ table: Table, among tables: [Table]) {
    var own = OwnRules()
    for attribute in table.descriptor.derivedAttributes {
      let column = attribute.property.ordinal
      switch attribute.source {
      case .count(let list) where !list.isDerivable: own.lengths.append((list.ordinal, column))
      case .count(let list):
        own.totals += total(attribute.property, list, nil, .count, among: tables)
      case .sum(let list, let summand, let arithmetic):
        own.totals += total(attribute.property, list, summand, arithmetic, among: tables)
      case .canonical(let text): own.texts.append((text.ordinal, column))
      case .modificationDate: own.dates.append(column)
      }
    }
    owners[table.number] = own
  }

  private mutating func total(
    _ property: ModelProperty,
    _ list: ModelProperty,
    _ summand: ModelProperty?,
    _ arithmetic: SumArithmetic,
    among tables: [Table]
  ) -> [Total] {
    guard let inverse = list.inverse, let destination = list.destination else { return [] }
    let base = ModelDescriptor.of(destination)
    let rule = MemberRule(
      reference: inverse.ordinal,
      summand: summand?.ordinal,
      column: property.ordinal,
      arithmetic: arithmetic,
      end: ObjectIdentifier(inverse)
    )
    let numbers = tables.filter { $0.descriptor.isKind(of: base) }.map(\.number)
    for number in numbers {
      // A subclass of the owner's class has the same column.
      if members[number]?.contains(rule) == true { continue }
      members[number, default: []].append(rule)
    }
    return [Total(property: property, rule: rule, tables: numbers)]
  }

  /// Whether a rule is one of a table's totals: the owner may be of another class beside the one that counts.
  package func counts(_ rule: MemberRule, in table: UInt16) -> Bool {
    owners[table]?.totals.contains { $0.rule == rule } ?? false
  }
}

extension ModelDescriptor {
  /// Whether a total is declared by a subclass: its siblings may have other totals at the same position.
  ///
  /// Stores record such totals by other words than before 0.1, when siblings were mixed up: so they are computed anew once.
  package func maySharePosition(of total: ModelProperty) -> Bool {
    superclass.map { total.ordinal >= $0.properties.count } ?? false
  }
}

extension StoreDerivations.MemberRule {
  /// Whether a change of some columns can change a row's contribution.
  package func isTouched(by changed: ColumnSet) -> Bool {
    changed.contains(reference) || summand.map(changed.contains) ?? false
  }
}

extension StoreDerivations.OwnRules {
  /// The lengths and canonical texts of a row to be written.
  ///
  /// - Parameters:
  ///   - row: The row as it is to be written.
  ///   - layout: Its layout.
  ///   - changed: The changed columns; the columns of the values are added, and others of their kind are removed.
  /// - Returns: Columns and their values.
  package func values(
    of row: RawSpan,
    _ layout: RowLayout,
    _ changed: inout ColumnSet
  ) -> [(column: Int, value: DerivedColumnValue)] {
    var values: [(column: Int, value: DerivedColumnValue)] = []
    for (list, column) in lengths {
      changed.remove(column)
      guard changed.contains(list) else { continue }
      let count = layout.isNull(list, in: row) ? 0 : layout.referenceCount(list, in: row)
      values.append((column, .integer(Int64(count))))
      changed.insert(column)
    }
    for (text, column) in texts {
      changed.remove(column)
      guard changed.contains(text) else { continue }
      values.append((column, .canonical(text, of: row, layout)))
      changed.insert(column)
    }
    return values
  }
}

/// The contribution of one member to a count or a sum.
package struct DerivedAmount: Equatable {
  package var integer: Int128 = 0
  package var double = 0.0

  /// - Parameters:
  ///   - rule: The column that is added up, and how.
  ///   - row: The member's row.
  ///   - layout: Its layout.
  package init(_ rule: StoreDerivations.MemberRule, of row: RawSpan, _ layout: RowLayout) {
    guard let summand = rule.summand else {
      integer = 1
      return
    }
    if layout.isNull(summand, in: row) { return }
    if rule.arithmetic.isExact {
      integer = rule.arithmetic.integer(layout.integer(summand, in: row))
    } else {
      double = layout.double(summand, in: row)
    }
  }

  package init() {}

  package static func += (lhs: inout DerivedAmount, rhs: DerivedAmount) {
    lhs.integer += rhs.integer
    lhs.double += rhs.double
  }
}
