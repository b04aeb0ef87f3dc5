import Foundation
import SwiftData
import Testing

@testable import Simulator

@Suite struct `A simulated schedule` {
  let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "simulated-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  @Test(arguments: ScheduleKind.allCases)
  func `is the same each time its seed is drawn`(kind: ScheduleKind) throws {
    let first = Schedule.draw(seed: 7, kind: kind, stepCount: 40, in: folder)
    let second = Schedule.draw(seed: 7, kind: kind, stepCount: 40, in: folder)
    let isSame = first.schedule.operations == second.schedule.operations
    #expect(isSame)
    // What was found may name a store, which has another identifier each time.
    #expect(first.violation?.sort == second.violation?.sort)
    #expect(!first.schedule.operations.isEmpty)
  }

  /// Seeds that found something once, each with the class of schedules it was drawn for.
  private static let formerViolations: [(ScheduleKind, UInt64)] = [
    // New models whose unique values others have saved are rolled back.
    (.merging, 10_572), (.several, 10_931),
    // A save meets a row whose deletion has its number and is not visible yet.
    (.threads, 20_004), (.threads, 21_384), (.threads, 21_939),
    // What came to one list of many to many was in an outdated list at the other end.
    (.merging, 22_387), (.several, 22_861),
    // Two contexts give a member one owner, and one of them merges.
    (.merging, 21_667),
    // An unsaved list has a new member that is deleted elsewhere.
    (.containers, 24_343),
    // A rollback gives a list its member back.
    (.containers, 22_948),
    // A change of lists of many to many is saved, taken back, and made again.
    (.alone, 24_285), (.alone, 35_098), (.alone, 33_614),
    // Two threads add a member to one list, and each gives it a place.
    (.threads, 146_514),
    // A thread appends a member that the list has got from another one.
    (.threads, 153_703),
    // A member comes back to a new list in its order, and what was appended before is taken back.
    (.alone, 157_024), (.alone, 184_107),
    // A member comes back to its place in a list that was saved without it.
    (.alone, 183_379),
    // A tag is deleted in two contexts, and another one of its code is saved between the two.
    (.merging, 114_081), (.containers, 162_431),
    // An upsert redirects a list that a member has left and come back to.
    (.several, 35_843),
    // A model with an unsaved change is counted by what another context has saved of it.
    (.merging, 185_404),
    // All that a save changed was undone before it: it writes nothing.
    (.threads, 22_344), (.threads, 25_519),
    // A saved move out of a list that was not in memory is undone.
    (.alone, 164_255),
    // A new member is given an owner that a delete of the same save cascades to.
    (.threads, 413_746),
    // What is in the way of a denied delete was deleted elsewhere.
    (.containers, 525_402),
    // A model that refers to one which left the context unsaved was deleted elsewhere.
    (.containers, 540_109), (.merging, 579_658),
    // A member that another context has taken out is put into a list that still holds it.
    (.crossing, 546_873), (.crossing, 563_631),
    // A model that came back as another row is looked for by its former identifier.
    (.alone, 717_689),
    // A member passes through a list whose owner another save is deleting.
    (.threads, 599_953), (.threads, 925_894),
    // What is in the way of a denied delete comes back after that delete was saved.
    (.alone, 813_785),
    // A new model is deleted with a new owner of what another context has deleted.
    (.merging, 836_929),
    // The saved delete of a member is undone, whose list of many to many was not in memory.
    (.alone, 917_238),
    // The saved insertion of a model with a list of many to many is undone, and redone.
    (.alone, 1_039_388),
    // The delete of a member of many to many is undone before it is saved.
    (.alone, 584_493),
  ]

  @Test(arguments: formerViolations)
  func `agrees with the oracle where it did not once`(kind: ScheduleKind, seed: UInt64) {
    let (_, violation) = Schedule.draw(seed: seed, kind: kind, stepCount: 60, in: folder)
    #expect(violation == nil, "\(kind) \(seed): \(violation?.description ?? "")")
  }

  @Test func `agrees with the oracle on a program of every shape of relationship`() throws {
    let operations: [Simulator.Operation.Action] = [
      .insert(.team, key: 1, .plain),
      .insert(.player, key: 2, .appended(.players, owner: 1)),
      .insert(.captain, key: 3, .plain),
      .save,
      .insert(.deal, key: 4, .linkedAfter(.deals, owner: 2)),
      .insert(.locker, key: 5, .plain),
      .linkPartner(.locker, owner: 2, member: 5),
      .insert(.badge, key: 6, .plain),
      .append(.badges, .owner, key: 6, 2),
      .insert(.tag, key: 10_000, .plain),
      .look,
      .save,
      .link(.locker, member: 5, owner: 3),
      .set(key: 2, .value, 9),
      .fetch(Query(kind: .player, condition: .valueAbove(3), sort: .value)),
      .fetch(Query(kind: .player, condition: .group(0), sort: .key, call: .count)),
      .insert(.tag, key: 10_000, .plain),
      .save,
      .look,
      .delete(key: 2),
      .save,
      .look,
    ]
    let schedule = Schedule(
      setting: Setting(),
      operations: operations.map { Operation(context: 0, action: $0) }
    )
    let violation = schedule.run(in: folder)
    #expect(violation == nil, "\(violation?.description ?? "")")
  }

  @Test func `finds what was changed behind the oracle's back`() throws {
    let world = try World(Setting(), in: folder, name: "tampered")
    defer { world.close() }
    try world.perform(Operation(context: 0, action: .insert(.team, key: 1, .plain)))
    try world.perform(Operation(context: 0, action: .save))
    let context = ModelContext(world.containers[0])
    let team = try #require(try context.fetch(FetchDescriptor<Team>()).first)
    team.value = 5
    try context.save()
    try world.perform(Operation(context: 0, action: .renew))
    #expect {
      try world.perform(Operation(context: 0, action: .look))
    } throws: { ($0 as? Violation)?.sort == .attribute }
  }

  @Test func `is cut down to the steps that matter`() {
    let needed: Set<Int> = [3, 17, 18]
    let schedule = Schedule(
      setting: Setting(onDisk: true, contexts: [Setting.Context(merges: true)]),
      operations: (0..<40).map {
        Operation(context: 0, action: .set(key: $0, .value, 0), access: .fetched)
      }
    )
    func keys(_ schedule: Schedule) -> Set<Int> {
      Set(
        schedule.operations.compactMap {
          if case .set(let key, _, _) = $0.action { key } else { nil }
        }
      )
    }
    let shrunk = schedule.shrunk { keys($0).isSuperset(of: needed) }
    #expect(keys(shrunk) == needed)
    #expect(!shrunk.setting.onDisk && !shrunk.setting.contexts[0].merges)
    #expect(shrunk.operations.allSatisfy { $0.access == .held })
  }

  @Test func `is printed as a program`() {
    let schedule = Schedule(
      setting: Setting(contexts: [Setting.Context(), Setting.Context(merges: true)]),
      operations: [
        Operation(context: 0, action: .insert(.team, key: 1, .plain)),
        Operation(context: 0, action: .save),
        Operation(
          context: 1,
          action: .insert(.captain, key: 2, .appended(.players, owner: 1))
        ),
        Operation(context: 1, action: .set(key: 1, .note, 3)),
      ]
    )
    #expect(
      schedule.swift.split(separator: "\n").dropFirst().joined(separator: "\n") == """
        let x = ModelContext(container)
        let y = ModelContext(container)
        y.automaticallyMergesChanges = true
        let x1 = Team(1)
        x.insert(x1)
        try x.save()
        let y1 = try y.find(Team.self, 1)
        let y2 = Captain(2)
        y1.players.append(y2)
        y1.note = "n3"
        """
    )
  }

  @Test func `leaves behind what it was about to do when the process ended`() throws {
    let file = folder.appending(path: "beacon").path
    let operation = Operation(context: 0, action: .delete(key: 4))
    do {
      let beacon = try #require(Beacon(path: file))
      beacon.begin(Setting(onDisk: true))
      beacon.append(operation)
    }
    let found = try #require(Beacon.schedule(at: file))
    #expect(found.setting.onDisk)
    #expect(found.operations == [operation])
  }
}
