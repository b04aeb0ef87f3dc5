import LogStore
import SwiftData
import Testing

@Suite struct `Taking back a model that another needs` {
  @Model final class Harbour {
    var name: String
    @Relationship(deleteRule: .deny, inverse: \Mole.harbour) var moles: [Mole] = []
    @Relationship(deleteRule: .deny, inverse: \Pilot.harbours) var pilots: [Pilot] = []
    @Relationship(deleteRule: .cascade, inverse: \Light.harbour) var lights: [Light] = []

    init(_ name: String) { self.name = name }
  }

  @Model final class Mole {
    var name: String
    var harbour: Harbour?

    init(_ name: String) { self.name = name }
  }

  @Model final class Pilot {
    var name: String
    var harbours: [Harbour] = []

    init(_ name: String) { self.name = name }
  }

  @Model final class Light {
    var name: String
    var harbour: Harbour

    init(_ name: String, _ harbour: Harbour) {
      self.name = name
      self.harbour = harbour
    }
  }

  enum Member: CaseIterable {
    /// Its harbour must not be deleted while it has it.
    case mole, pilot
    /// It cannot be without its harbour.
    case light
  }

  @Test(arguments: Member.allCases, [true, false])
  func `leaves it, since that stays`(member: Member, isSaved: Bool) throws {
    let container = try ModelContainer(
      for: Harbour.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let context = ModelContext(container)
    let (riga, oslo) = (Harbour("Riga"), Harbour("Oslo"))
    let (mole, pilot, light) = (Mole("m"), Pilot("p"), Light("l", riga))
    riga.moles = [mole]
    riga.pilots = [pilot]
    for model in [riga, oslo] { context.insert(model) }
    context.insert(light)
    context.author = "import"
    try context.save()
    let changed: any PersistentModel
    switch member {
    case .mole:
      mole.name = "mine"
      changed = mole
    case .pilot:
      pilot.name = "mine"
      changed = pilot
    case .light:
      light.name = "mine"
      changed = light
    }
    context.author = "mine"
    if isSaved { try context.save() }

    let reversal = try context.revert(author: "import")
    try context.save()
    #expect(reversal.conflicts.count == 2)
    #expect(reversal.conflicts.first?.model == changed.persistentModelID)
    #expect(reversal.conflicts.last?.model == riga.persistentModelID)
    #expect(reversal.conflicts.last?.reason == .stillReferredTo(by: changed.persistentModelID))
    let later = ModelContext(container)
    #expect(try later.fetch(FetchDescriptor<Harbour>()).map(\.name) == ["Riga"])
    #expect(
      try later.fetch(FetchDescriptor<Mole>()).map { $0.harbour?.name }
        == (member == .mole ? ["Riga"] : [])
    )
    #expect(
      try later.fetch(FetchDescriptor<Pilot>()).map { $0.harbours.map(\.name) }
        == (member == .pilot ? [["Riga"]] : [])
    )
    #expect(
      try later.fetch(FetchDescriptor<Light>()).map(\.harbour.name)
        == (member == .light ? ["Riga"] : [])
    )
  }
}
