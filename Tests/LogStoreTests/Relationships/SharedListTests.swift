import LogStore
import SwiftData
import Testing

@Suite struct `Lists that several contexts change` {
  let club: Club

  init() throws { club = try Club() }

  private func makeTeam(of keys: ClosedRange<Int>) throws -> ModelContext {
    try club.context { context in
      let team = Team(1)
      context.insert(team)
      for key in keys { team.members.append(Player(key)) }
    }
  }

  private func stored() throws -> [Int] {
    try ModelContext(club.container).team(1).members.map(\.key)
  }

  @Test func `are as new as the last fetch`() throws {
    let first = try makeTeam(of: 1...3)
    let team = try first.team(1)
    #expect(team.members.count == 3)
    let second = ModelContext(club.container)
    try second.team(1).members.append(Player(4))
    try second.save()
    #expect(team.members.count == 3)
    _ = try first.fetch(FetchDescriptor<Player>())
    #expect(team.members.map(\.key) == [1, 2, 3, 4])
    for player in team.members { #expect(player.team === team) }
    try second.player(2).team = nil
    try second.save()
    _ = try first.fetch(FetchDescriptor<Team>())
    #expect(team.members.map(\.key) == [1, 3, 4])
    #expect(try first.player(2).team == nil)
  }

  @Test func `keep what others added when they are reordered`() throws {
    let first = try makeTeam(of: 1...4)
    let team = try first.team(1)
    #expect(team.members.count == 4)
    let second = ModelContext(club.container)
    try second.team(1).members.append(Player(5))
    try second.save()
    team.members.swapAt(0, 1)
    try first.save()
    #expect(try stored() == [2, 1, 3, 4, 5])
    #expect(team.members.map(\.key) == [2, 1, 3, 4, 5])
  }

  /// Seed 33005894 of `Tools/simulate`.
  @Test(arguments: [false, true])
  func `keep what others add in their order behind an order of their own`(isRead: Bool) throws {
    let first = try makeTeam(of: 1...2)
    let team = try first.team(1)
    team.members.swapAt(0, 1)
    let second = ModelContext(club.container)
    let theirs = try second.team(1)
    for place in [2, 2, 3] {
      theirs.members.insert(Player(theirs.members.count + 1), at: place)
      try second.save()
      _ = try first.fetch(FetchDescriptor<Team>())
      if isRead { #expect(team.members.count == theirs.members.count) }
    }
    #expect(try stored() == [1, 2, 4, 5, 3])
    #expect(team.members.map(\.key) == [2, 1, 4, 5, 3])
    try first.save()
    #expect(try stored() == [2, 1, 4, 5, 3])
  }

  @Test func `keep what was appended behind what others had added before`() throws {
    let first = try makeTeam(of: 1...2)
    let team = try first.team(1)
    team.members.swapAt(0, 1)
    let second = ModelContext(club.container)
    try second.team(1).members.append(Player(3))
    try second.save()
    _ = try first.fetch(FetchDescriptor<Team>())
    #expect(team.members.map(\.key) == [2, 1, 3])
    team.members.append(Player(9))
    try second.team(1).members.insert(Player(4), at: 2)
    try second.save()
    _ = try first.fetch(FetchDescriptor<Team>())
    #expect(team.members.map(\.key) == [2, 1, 4, 3, 9])
    try first.save()
    #expect(try stored() == [2, 1, 4, 3, 9])
  }

  @Test func `keep the order that they were given with what others had added`() throws {
    let first = try makeTeam(of: 1...2)
    let team = try first.team(1)
    team.members.swapAt(0, 1)
    let second = ModelContext(club.container)
    try second.team(1).members.append(Player(3))
    try second.team(1).members.append(Player(4))
    try second.save()
    _ = try first.fetch(FetchDescriptor<Team>())
    #expect(team.members.map(\.key) == [2, 1, 3, 4])
    team.members.swapAt(2, 3)
    try second.team(1).members.insert(Player(5), at: 2)
    try second.save()
    _ = try first.fetch(FetchDescriptor<Team>())
    #expect(team.members.map(\.key) == [2, 1, 4, 3, 5])
    try first.save()
    #expect(try stored() == [2, 1, 4, 3, 5])
  }

  @Test(arguments: [false, true])
  func `keep a member that left and came back before those that came after it`(
    isMerged: Bool
  ) throws {
    let first = try makeTeam(of: 1...1)
    first.insert(Team(2))
    first.insert(Player(2))
    try first.save()
    let second = ModelContext(club.container)
    let (one, two) = (try first.player(1), try first.player(2))
    try first.team(2).members = [one]
    try first.team(1).members = [one, two]
    // The other adds what the first has added too, behind the member that was there before.
    try second.team(1).members.append(try second.player(2))
    try second.save()
    if isMerged { #expect(try first.team(1).members.map(\.key) == [1, 2]) }
    try first.save()
    #expect(try first.team(1).members.map(\.key) == [1, 2])
    #expect(try stored() == [1, 2])
  }

  @Test func `keep the order of members that came back where lists are stored at both ends`()
    throws
  {
    let first = try club.context { context in
      let medal = Medal(0)
      context.insert(medal)
      medal.players = [Player(1)]
      context.insert(Player(2))
    }
    let second = ModelContext(club.container)
    try second.medal(0).players.append(try second.player(2))
    let medal = try first.medal(0)
    medal.players = []
    medal.players = [try first.player(1), try first.player(2)]
    try second.save()
    try first.save()
    #expect(try ModelContext(club.container).medal(0).players.map(\.key) == [1, 2])
    #expect(try club.container.storedListViolations() == [])
  }

  @Test func `keep all that was appended in either`() throws {
    let first = try makeTeam(of: 1...2)
    let second = ModelContext(club.container)
    let (one, other) = (try first.team(1), try second.team(1))
    #expect(one.members.count == other.members.count)
    one.members.append(Player(3))
    other.members.append(Player(4))
    try first.save()
    try second.save()
    #expect(try stored() == [1, 2, 3, 4])
    #expect(other.members.map(\.key) == [1, 2, 3, 4])
  }

  @Test(arguments: [false, true])
  func `of many to many keep all that was appended in either`(isRead: Bool) throws {
    let first = try club.context { context in
      context.insert(Medal(0))
      context.insert(Player(1))
      context.insert(Player(2))
    }
    let second = ModelContext(club.container)
    let (one, other) = (try first.medal(0), try second.medal(0))
    if isRead { #expect(one.players.isEmpty && other.players.isEmpty) }
    try first.player(1).medals.append(one)
    try second.player(2).medals.append(other)
    try first.save()
    try second.save()
    let third = ModelContext(club.container)
    #expect(try third.medal(0).players.map(\.key) == [1, 2])
    #expect(try third.player(1).medals.map(\.key) == [0])
    #expect(try third.player(2).medals.map(\.key) == [0])
    #expect(other.players.map(\.key) == [1, 2])
  }

  @Test func `of many to many keep what either took out, and an order of their own`() throws {
    let first = try club.context { context in
      let medal = Medal(0)
      context.insert(medal)
      medal.players = (1...5).map { Player($0) }
    }
    let second = ModelContext(club.container)
    let (one, other) = (try first.medal(0), try second.medal(0))
    one.players.reverse()
    other.players.removeAll { $0.key == 2 }
    other.players.append(Player(6))
    try second.save()
    try first.save()
    let third = ModelContext(club.container)
    #expect(try third.medal(0).players.map(\.key) == [5, 4, 3, 1, 6])
    #expect(try third.player(2).medals.isEmpty)
    #expect(try third.player(6).medals.map(\.key) == [0])
  }

  @Test func `of many to many are appended to by many tasks at once`() async throws {
    try club.context { context in
      context.insert(Medal(0))
      for key in 1...64 { context.insert(Player(key)) }
    }
    let container = club.container
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask {
          for key in (1...64) where key % 4 == task {
            let context = ModelContext(container)
            guard let player = try? context.player(key), let medal = try? context.medal(0) else {
              continue
            }
            player.medals.append(medal)
            try? context.save()
          }
        }
      }
    }
    let context = ModelContext(container)
    #expect(try context.medal(0).players.map(\.key).sorted() == Array(1...64))
    let alone = try context.fetch(FetchDescriptor<Player>()).filter { $0.medals.count != 1 }
    #expect(alone.isEmpty)
  }
}

@Suite struct `The order of a list` {
  @Test func `is that in which members were appended, whichever way they came`() throws {
    try Club.reopening { container in
      let context = ModelContext(container)
      let (team, other) = (Team(1), Team(2))
      context.insert(team)
      context.insert(other)
      other.members = [Player(10), Player(11)]
      try context.save()
      // Moved by its to-one, new by its to-one, new by the list, and moved again.
      other.members[0].team = team
      let new = Player(12)
      context.insert(new)
      new.team = team
      team.members.append(Player(13))
      other.members[0].team = team
      #expect(team.members.map(\.key) == [10, 12, 13, 11])
      try context.save()
      #expect(team.members.map(\.key) == [10, 12, 13, 11])
    } then: { container in
      let keys = try ModelContext(container).team(1).members.map(\.key)
      #expect(keys == [10, 12, 13, 11])
    }
  }

  @Test func `is kept for a list that nobody held while it grew`() throws {
    let club = try Club()
    try club.context { $0.insert(Team(1)) }
    let context = ModelContext(club.container)
    do {
      let player = Player(1)
      player.team = try context.team(1)
      context.insert(player)
    }
    #expect(try context.team(1).members.count == 1)
    for player in try context.fetch(FetchDescriptor<Player>()) { _ = player.team?.key }
    do {
      let player = Player(2)
      player.team = try context.team(1)
      context.insert(player)
    }
    #expect(try context.team(1).members.map(\.key) == [1, 2])
    try context.save()
    #expect(try context.team(1).members.map(\.key) == [1, 2])
    #expect(try ModelContext(club.container).team(1).members.map(\.key) == [1, 2])
  }

  @Test func `is one for members of several classes`() throws {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, *) else { return }
    try Club.reopening { container in
      let context = ModelContext(container)
      let team = Team(1)
      context.insert(team)
      for key in 0..<8 { team.members.append(key % 2 == 0 ? Player(key) : Goalkeeper(key)) }
      try context.save()
      #expect(try ModelContext(container).team(1).members.map(\.key) == Array(0..<8))
      team.members.reverse()
      try context.save()
    } then: { container in
      let keys = try ModelContext(container).team(1).members.map(\.key)
      #expect(keys == Array((0..<8).reversed()))
    }
  }

  @Test func `of a graph that its parent inserts is that of its rows`() throws {
    let club = try Club()
    try club.context { context in
      let team = Team(1)
      team.members = (0..<5).map { Player($0) }
      context.insert(team)
    }
    let context = ModelContext(club.container)
    #expect(try context.fetch(FetchDescriptor<Player>()).map(\.key) == Array(0..<5))
    #expect(try context.team(1).members.map(\.key) == Array(0..<5))
  }

  @Test func `costs one row when a member is moved to the front`() throws {
    let club = try Club()
    let context = try club.context { context in
      let team = Team(1)
      context.insert(team)
      team.members = (0..<50).map { Player($0) }
    }
    let team = try context.team(1)
    let token = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).last?.token
    team.members.insert(team.members.remove(at: 49), at: 0)
    try context.save()
    let expected = [49] + Array(0..<49)
    #expect(team.members.map(\.key) == expected)
    #expect(try ModelContext(club.container).team(1).members.map(\.key) == expected)
    let after = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
      .filter { transaction in token.map { transaction.token > $0 } ?? true }
    let players = after.flatMap(\.changes).filter {
      $0.changedPersistentIdentifier.entityName == "Player"
    }
    #expect(players.count == 1)
  }

  /// Moves into one gap use it up, and their neighbours are ranked anew.
  @Test(arguments: [1, 2, 3] as [UInt64])
  func `survives any number of moves and saves`(seed: UInt64) throws {
    let club = try Club()
    var random = SeededNumbers(seed: seed)
    let context = try club.context { context in
      let team = Team(1)
      context.insert(team)
      team.members = (0..<12).map { Player($0) }
    }
    let team = try context.team(1)
    var expected = Array(0..<12)
    for step in 0..<120 {
      let from = Int.random(in: 0..<12, using: &random)
      // Mostly to one place.
      let to = step % 4 == 0 ? Int.random(in: 0..<12, using: &random) : 5
      expected.insert(expected.remove(at: from), at: to)
      team.members.insert(team.members.remove(at: from), at: to)
      try context.save()
      #expect(team.members.map(\.key) == expected, "seed \(seed), step \(step)")
    }
    #expect(try ModelContext(club.container).team(1).members.map(\.key) == expected)
  }
}

/// Random numbers that are the same in every run.
struct SeededNumbers: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
