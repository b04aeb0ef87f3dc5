import Foundation
import ModelRuntime

// The models the contract is written in: owners have items, items have parts and wear labels.

enum Grade: String, Codable, CaseIterable {
  case low, middle, high
}

struct Place: Codable, Hashable {
  var street: String
  var number: Int
}

@Model final class Owner {
  var name: String
  @Relationship(deleteRule: .nullify, inverse: \Item.owner) var items: [Item] = []

  init(_ name: String) { self.name = name }
}

@Model final class Item {
  var name: String
  var count: Int = 0
  var weight: Double?
  var isNew: Bool = false
  var made: Date?
  var code: UUID?
  var picture: Data?
  var link: URL?
  var grade: Grade = Grade.low
  var tags: [String] = []
  var place: Place?
  var owner: Owner?
  @Relationship(deleteRule: .cascade, inverse: \Part.item) var parts: [Part] = []
  @Relationship(inverse: \Label.items) var labels: [Label] = []

  init(_ name: String, count: Int = 0) {
    self.name = name
    self.count = count
  }
}

@Model final class Part {
  var name: String
  var item: Item?

  init(_ name: String) { self.name = name }
}

@Model final class Label {
  var text: String
  var items: [Item] = []

  init(_ text: String) { self.text = text }
}

@Model final class Member {
  @Attribute(.unique) var code: String
  var name: String
  @Relationship(deleteRule: .cascade, inverse: \Loan.member) var loans: [Loan] = []

  init(_ code: String, name: String) {
    self.code = code
    self.name = name
  }
}

@Model final class Loan {
  var title: String
  var member: Member?

  init(_ title: String) { self.title = title }
}
