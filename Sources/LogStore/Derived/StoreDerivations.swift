import ModelRuntime
import RowFormat

/// Which columns of a store's tables are derived, and from what.
struct StoreDerivations: Sendable {
  /// A derived column that the rows of a table count for, as members of a list of other rows.
  struct MemberRule: Hashable, Sendable {
    /// The member's column that names the owner of the list.
    let reference: Int
    /// The member's column that is added up; `nil` if members are counted.
    let summand: Int?
    /// The owner's column.
    let column: Int
  }

  /// The derived columns of the rows of a table.
  struct OwnRules: Sendable {
    /// Counts and sums over lists whose members name their owner.
    var totals: [Total] = []
    /// Lengths of lists that are stored in the row.
    var lengths: [(list: Int, column: Int)] = []
    /// Canonical forms of texts.
    var texts: [(text: Int, column: Int)] = []
    /// When the row was written.
    var dates: [Int] = []
  }

  /// A derived column that is computed from other rows.
  struct Total: Sendable {
    let property: ModelProperty
    let arithmetic: SumArithmetic
    /// The columns that name the owner, and what is added up, in the tables of the members.
    var members: [(table: UInt16, rule: MemberRule)] = []

    var column: Int { property.ordinal }
  }

  private(set) var members: [UInt16: [MemberRule]] = [:]
  private(set) var owners: [UInt16: OwnRules] = [:]
  /// How the values of member tables are added up, by the column of their owner.
  private var arithmetics: [UInt16: [MemberRule: SumArithmetic]] = [:]

  /// A table's number, and the class of its rows.
  typealias Table = (number: UInt16, descriptor: ModelDescriptor)

  /// - Returns: `nil` if no class has a derived attribute.
  init?(_ tables: [Table]) {
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
        own.totals.append(total(attribute.property, list, nil, .count, among: tables))
      case .sum(let list, let summand, let arithmetic):
        own.totals.append(total(attribute.property, list, summand, arithmetic, among: tables))
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
  ) -> Total {
    var total = Total(property: property, arithmetic: arithmetic)
    guard let inverse = list.inverse, let destination = list.destination else { return total }
    let base = ModelDescriptor.of(destination)
    let rule = MemberRule(
      reference: inverse.ordinal,
      summand: summand?.ordinal,
      column: property.ordinal
    )
    for table in tables where table.descriptor.isKind(of: base) {
      total.members.append((table.number, rule))
      arithmetics[table.number, default: [:]][rule] = arithmetic
      // A subclass of the owner's class has the same column.
      if members[table.number]?.contains(rule) == true { continue }
      members[table.number, default: []].append(rule)
    }
    return total
  }

  /// How what a rule finds in rows of a table is added up.
  func arithmetic(of rule: MemberRule, in table: UInt16) -> SumArithmetic {
    arithmetics[table]?[rule] ?? .count
  }
}

/// What one member adds to a count or a sum.
struct DerivedAmount: Equatable {
  var integer: Int128 = 0
  var double = 0.0

  /// - Parameters:
  ///   - rule: What is added up.
  ///   - row: The member's row.
  ///   - layout: Its layout.
  ///   - arithmetic: How.
  init(
    _ rule: StoreDerivations.MemberRule,
    of row: RawSpan,
    _ layout: RowLayout,
    _ arithmetic: SumArithmetic
  ) {
    guard let summand = rule.summand else {
      integer = 1
      return
    }
    if layout.isNull(summand, in: row) { return }
    if arithmetic.isExact {
      integer = arithmetic.integer(layout.integer(summand, in: row))
    } else {
      double = layout.double(summand, in: row)
    }
  }

  init() {}

  static func += (lhs: inout DerivedAmount, rhs: DerivedAmount) {
    lhs.integer += rhs.integer
    lhs.double += rhs.double
  }
}
