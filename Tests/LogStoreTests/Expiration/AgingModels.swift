import SwiftData

/// Models that have a date, and what may be related to them.
enum Aging {
  @Model final class Pulse {
    var number: Int
    var at: Date

    init(_ number: Int, at: Date) {
      self.number = number
      self.at = at
    }

    var computed: Date { at }
    @Transient var transient = Date.distantPast
  }

  @Model final class IndexedPulse {
    #Index<IndexedPulse>([\.at])
    @Attribute(.preserveValueOnDeletion) var number: Int
    var at: Date

    init(_ number: Int, at: Date) {
      self.number = number
      self.at = at
    }
  }

  @Model final class Login {
    @Attribute(.unique) var token: String
    var expiresAt: Date?

    init(_ token: String, expiresAt: Date?) {
      self.token = token
      self.expiresAt = expiresAt
    }
  }

  @Model class Visit {
    var name: String
    var at: Date

    init(_ name: String, at: Date) {
      self.name = name
      self.at = at
    }
  }

  @Model final class GuidedVisit: Visit {
    var endedAt: Date

    init(_ name: String, at: Date, endedAt: Date) {
      self.endedAt = endedAt
      super.init(name, at: at)
    }
  }

  @Model final class Clip {
    var at: Date
    @Attribute(.externalStorage) var film: Data

    init(at: Date, film: Data) {
      self.at = at
      self.film = film
    }
  }

  /// What is to be done, with rules of each kind.
  @Model final class Task {
    var name: String
    var doneAt: Date?
    @Relationship(deleteRule: .cascade, inverse: \Step.task) var steps: [Step] = []
    @Relationship(deleteRule: .nullify, inverse: \Memo.task) var memos: [Memo] = []
    @Relationship(deleteRule: .deny, inverse: \Bill.task) var bills: [Bill] = []

    init(_ name: String, doneAt: Date?) {
      self.name = name
      self.doneAt = doneAt
    }
  }

  @Model final class Step {
    var name: String
    var task: Task?

    init(_ name: String) { self.name = name }
  }

  @Model final class Memo {
    var name: String
    var task: Task?

    init(_ name: String) { self.name = name }
  }

  @Model final class Bill {
    var name: String
    var task: Task?

    init(_ name: String) { self.name = name }
  }

  /// Nothing but a list of what refers to it without a choice.
  @Model final class Engine {
    var name: String
    var retiredAt: Date
    @Relationship(deleteRule: .nullify, inverse: \Part.engine) var parts: [Part] = []

    init(_ name: String, retiredAt: Date) {
      self.name = name
      self.retiredAt = retiredAt
    }
  }

  @Model final class Part {
    var engine: Engine

    init(_ engine: Engine) { self.engine = engine }
  }

  static let models: [any PersistentModel.Type] = [
    Pulse.self, IndexedPulse.self, Login.self, Visit.self, GuidedVisit.self, Clip.self, Task.self,
    Step.self, Memo.self, Bill.self, Engine.self, Part.self,
  ]
}
