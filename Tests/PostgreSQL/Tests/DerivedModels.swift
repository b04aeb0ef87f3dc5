import Foundation
import LogStore
import ModelRuntime
import Testing

/// Models with every kind of derived attribute, and what compares two stores of them.
enum Deriving {
  @Model class Voyage {
    var serial: Int
    var name: String
    var notes: String?
    var parent: Voyage?
    @Relationship(deleteRule: .nullify, inverse: \Voyage.parent) var parts: [Voyage] = []
    @Relationship(deleteRule: .cascade, inverse: \Expense.voyage) var expenses: [Expense] = []
    @Relationship(inverse: \Guide.voyages) var guides: [Guide] = []
    @Derived(.count(\Voyage.parts)) var partCount: Int
    @Derived(.sum(of: \Voyage.serial, over: \Voyage.parts)) var partSum: Int
    @Derived(.count(\Voyage.expenses)) var expenseCount: Int
    @Derived(.sum(of: \Expense.amount, over: \Voyage.expenses)) var total: Int
    @Derived(.sum(of: \Expense.tax, over: \Voyage.expenses)) var tax: Int8
    @Derived(.sum(of: \Expense.bytes, over: \Voyage.expenses)) var bytes: UInt64
    @Derived(.sum(of: \Expense.weight, over: \Voyage.expenses)) var weight: Double
    @Derived(.sum(of: \Expense.share, over: \Voyage.expenses)) var share: Float
    @Derived(.count(\Voyage.guides)) var guideCount: Int
    @Derived(.canonical(\Voyage.name)) var searchName: String
    @Derived(.canonical(\Voyage.notes)) var searchNotes: String?
    @Derived(.modificationDate) var lastModified: Date?
    #Index<Voyage>([\.expenseCount], [\.searchName])

    init(_ serial: Int, _ name: String, notes: String? = nil) {
      self.serial = serial
      self.name = name
      self.notes = notes
    }
  }

  @Model final class Cruise: Voyage {
    var ship: String

    init(_ serial: Int, _ name: String, ship: String) {
      self.ship = ship
      super.init(serial, name)
    }
  }

  @Model final class Expense {
    var serial: Int
    var amount: Int
    var tax: Int8?
    var bytes: UInt64
    var weight: Double
    var share: Float
    var voyage: Voyage?

    init(
      _ serial: Int,
      amount: Int = 0,
      tax: Int8? = nil,
      bytes: UInt64 = 0,
      weight: Double = 0,
      share: Float = 0,
      of voyage: Voyage? = nil
    ) {
      self.serial = serial
      self.amount = amount
      self.tax = tax
      self.bytes = bytes
      self.weight = weight
      self.share = share
      self.voyage = voyage
    }
  }

  @Model final class Guide {
    #Unique<Guide>([\.name])
    var name: String
    var voyages: [Voyage] = []
    @Derived(.count(\Guide.voyages)) var voyageCount: Int
    @Derived(.canonical(\Guide.name)) var searchName: String

    init(_ name: String) { self.name = name }
  }

  static let schema = Schema([Voyage.self, Cruise.self, Expense.self, Guide.self])

  /// A log store that goes away with its container.
  static func logContainer() throws -> ModelContainer {
    try ModelContainer(
      for: schema,
      configurations: [ModelConfiguration(isStoredInMemoryOnly: true)]
    )
  }

  static func voyages(_ context: ModelContext) throws -> [Voyage] {
    try context.fetch(FetchDescriptor(sortBy: [SortDescriptor(\.serial)]))
  }

  static func expenses(_ context: ModelContext) throws -> [Expense] {
    try context.fetch(FetchDescriptor(sortBy: [SortDescriptor(\.serial)]))
  }

  static func guides(_ context: ModelContext) throws -> [Guide] {
    try context.fetch(FetchDescriptor(sortBy: [SortDescriptor(\.name)]))
  }

  /// Every derived attribute but dates, as text: one line for each model.
  static func derived(_ context: ModelContext) throws -> [String] {
    try voyages(context).map { voyage in
      [
        "\(voyage.serial)", "\(voyage.partCount)", "\(voyage.partSum)", "\(voyage.expenseCount)",
        "\(voyage.total)", "\(voyage.tax)", "\(voyage.bytes)", "\(voyage.weight)",
        "\(voyage.share)", "\(voyage.guideCount)", voyage.searchName,
        voyage.searchNotes ?? "nil", "\(voyage.lastModified != nil)",
      ].joined(separator: " ")
    } + guides(context).map { "\($0.name) \($0.voyageCount) \($0.searchName)" }
  }

  /// Compares the derived attributes with what the models say that they are derived from.
  static func check(
    _ context: ModelContext,
    _ comment: Comment? = nil,
    _ location: SourceLocation = #_sourceLocation
  ) throws {
    for voyage in try voyages(context) {
      let expenses = voyage.expenses
      let found =
        "\(voyage.partCount) \(voyage.partSum) \(voyage.expenseCount) \(voyage.total) "
        + "\(voyage.tax) \(voyage.bytes) \(voyage.weight) \(voyage.share) \(voyage.guideCount)"
      let expected =
        "\(voyage.parts.count) \(voyage.parts.map(\.serial).reduce(0, +)) \(expenses.count) "
        + "\(expenses.map(\.amount).reduce(0, +)) \(expenses.compactMap(\.tax).reduce(0, +)) "
        + "\(expenses.map(\.bytes).reduce(0, +)) \(expenses.map(\.weight).reduce(0, +)) "
        + "\(expenses.map(\.share).reduce(0, +)) \(voyage.guides.count)"
      #expect(found == expected, comment, sourceLocation: location)
      let name = Schema.Derivation.canonicalText(of: voyage.name)
      #expect(voyage.searchName == name, comment, sourceLocation: location)
    }
    for guide in try guides(context) {
      #expect(guide.voyageCount == guide.voyages.count, comment, sourceLocation: location)
    }
  }
}
