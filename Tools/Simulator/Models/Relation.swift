import SwiftData

/// The relationships of the simulator's models, each under the name of its first end.
///
/// One-to-many: the members have the to-one end, the owner the list. Many-to-many: the *owner* is the badge, the
/// *member* the player. One-to-one: the *owner* is the player, the *member* the locker.
enum Relation: String, CaseIterable, Codable, Sendable {
  case players, parts, deals, books, badges, locker

  enum Shape { case oneToMany, manyToMany, oneToOne }
  enum Rule { case nullify, cascade, deny }

  var shape: Shape {
    switch self {
    case .players, .parts, .deals, .books: .oneToMany
    case .badges: .manyToMany
    case .locker: .oneToOne
    }
  }

  /// The rule for the members when their owner is deleted; deleting a member always nullifies.
  var rule: Rule {
    switch self {
    case .players, .badges, .locker: .nullify
    case .parts, .deals: .cascade
    case .books: .deny
    }
  }

  var owners: [Kind] {
    switch self {
    case .players, .parts: [.team]
    case .deals, .locker: [.player, .captain]
    case .books: [.author]
    case .badges: [.badge]
    }
  }

  var members: [Kind] {
    switch self {
    case .players, .badges: [.player, .captain]
    case .parts: [.team]
    case .deals: [.deal]
    case .books: [.book]
    case .locker: [.locker]
    }
  }

  /// The property at the owner's end, and the one at the member's.
  var ownerEnd: String {
    switch self {
    case .players: "players"
    case .parts: "parts"
    case .deals: "deals"
    case .books: "books"
    case .badges: "players"
    case .locker: "locker"
    }
  }
  var memberEnd: String {
    switch self {
    case .players: "team"
    case .parts: "parent"
    case .deals, .locker: "player"
    case .books: "author"
    case .badges: "badges"
    }
  }
}

// MARK: The ends of a relationship, of models

extension Relation {
  /// The member's to-one end; of no many-to-many relationship.
  func owner(of member: any SimulatedModel) -> (any SimulatedModel)? {
    switch (self, member) {
    case (.players, let member as Player): member.team
    case (.parts, let member as Team): member.parent
    case (.deals, let member as Deal): member.player
    case (.books, let member as Book): member.author
    case (.locker, let member as Locker): member.player
    default: nil
    }
  }

  func setOwner(of member: any SimulatedModel, _ owner: (any SimulatedModel)?) {
    switch (self, member) {
    case (.players, let member as Player): member.team = owner as? Team
    case (.parts, let member as Team): member.parent = owner as? Team
    case (.deals, let member as Deal): member.player = owner as? Player
    case (.books, let member as Book): member.author = owner as? Author
    case (.locker, let member as Locker): member.player = owner as? Player
    default: preconditionFailure("\(self) has no to-one end at \(type(of: member))")
    }
  }

  /// The owner's to-one end, of the one-to-one relationship.
  func partner(of owner: any SimulatedModel) -> (any SimulatedModel)? { (owner as? Player)?.locker }

  func setPartner(of owner: any SimulatedModel, _ member: (any SimulatedModel)?) {
    (owner as? Player)?.locker = member as? Locker
  }

  /// A list at one of the ends.
  func list(_ end: End, of model: any SimulatedModel) -> [any SimulatedModel] {
    switch (self, end, model) {
    case (.players, .owner, let model as Team): model.players
    case (.parts, .owner, let model as Team): model.parts
    case (.deals, .owner, let model as Player): model.deals
    case (.books, .owner, let model as Author): model.books
    case (.badges, .owner, let model as Badge): model.players
    case (.badges, .member, let model as Player): model.badges
    default: []
    }
  }

  /// Changes a list at one of the ends, as a program does that says `list.append(…)`.
  func changeList(_ end: End, of model: any SimulatedModel, _ change: ListEdit) {
    switch (self, end, model) {
    case (.players, .owner, let model as Team): change.apply(to: &model.players)
    case (.parts, .owner, let model as Team): change.apply(to: &model.parts)
    case (.deals, .owner, let model as Player): change.apply(to: &model.deals)
    case (.books, .owner, let model as Author): change.apply(to: &model.books)
    case (.badges, .owner, let model as Badge): change.apply(to: &model.players)
    case (.badges, .member, let model as Player): change.apply(to: &model.badges)
    default: preconditionFailure("\(self) has no list at the \(end) \(type(of: model))")
    }
  }
}

/// The side of a relationship.
enum End: String, Codable, Sendable { case owner, member }

/// A change of a list, with the models it is about.
enum ListEdit {
  case append(any SimulatedModel)
  case insert(any SimulatedModel, Int)
  case remove(any SimulatedModel)
  case assign([any SimulatedModel])

  func apply<M: SimulatedModel>(to list: inout [M]) {
    switch self {
    case .append(let model): if let model = model as? M { list.append(model) }
    case .insert(let model, let place):
      if let model = model as? M { list.insert(model, at: min(place, list.count)) }
    case .remove(let model): list.removeAll { $0 === model as AnyObject }
    case .assign(let models): list = models.compactMap { $0 as? M }
    }
  }
}
