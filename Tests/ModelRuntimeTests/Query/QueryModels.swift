import Foundation
import ModelRuntime

// Models with an attribute of every kind that stands in a column of its own, and relationships of
// every shape.

enum Priority: Int, Codable, CaseIterable {
  case low, middle, high
  var isUrgent: Bool { self == .high }
}

enum Status: String, Codable, CaseIterable {
  case open, closed, waiting
}

@Model class Item {
  var number: Int
  var small: Int16
  var byte: UInt8
  var wide: UInt64
  var ratio: Double
  var share: Float
  var isDone: Bool
  var due: Date
  var token: UUID
  var title: String
  var payload: Data
  var link: URL
  var priority: Priority
  var status: Status = Status.waiting
  var count: Int?
  var score: Double?
  var weight: Float?
  var isOld: Bool?
  var seen: Date?
  var key: UUID?
  var note: String?
  var site: URL?
  var rank: Priority?
  var folder: Folder?
  var labels: [Label] = []

  init(number: Int) {
    self.number = number
    small = 0
    byte = 0
    wide = 0
    ratio = 0
    share = 0
    isDone = false
    due = Date(timeIntervalSinceReferenceDate: 0)
    token = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    title = ""
    payload = Data()
    link = URL(fileURLWithPath: "/")
    priority = .low
  }
}

@Model final class Folder {
  var name: String
  var size: Int
  var comment: String?
  var parent: Folder?
  @Relationship(inverse: \Item.folder) var items: [Item] = []
  @Relationship(inverse: \Folder.parent) var children: [Folder] = []

  init(name: String, size: Int) {
    self.name = name
    self.size = size
  }
}

@Model final class Label {
  var name: String
  var weight: Double
  @Relationship(inverse: \Item.labels) var items: [Item] = []

  init(name: String, weight: Double) {
    self.name = name
    self.weight = weight
  }
}

@Model final class Errand: Item {
  var place: String = ""

  init(number: Int, place: String) {
    self.place = place
    super.init(number: number)
  }
}
