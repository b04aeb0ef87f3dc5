import ModelRuntime

// Models whose saves go all ways: with unique values and without, with members, and with a list that is stored with its
// owner, for which a save takes a turn.

@Model final class Account {
  @Attribute(.unique) var code: String
  var balance: Int
  var note: String
  @Relationship(deleteRule: .cascade, inverse: \Entry.account) var entries: [Entry] = []
  var tags: [Tag] = []

  init(_ code: String, balance: Int = 0, note: String = "") {
    self.code = code
    self.balance = balance
    self.note = note
  }
}

@Model final class Entry {
  var number: Int
  var account: Account?
  init(_ number: Int) { self.number = number }
}

@Model final class Tag {
  var text: String
  init(_ text: String) { self.text = text }
}

/// A reading of a clock, by which an observer knows how long a save took to reach it.
@Model final class Reading {
  var time: Int
  init(time: Int) { self.time = time }
}

enum CampaignModels {
  static let schema = Schema([Account.self, Entry.self, Tag.self, Reading.self])
}
