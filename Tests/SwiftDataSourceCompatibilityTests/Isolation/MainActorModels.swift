import Foundation
import SwiftData

// Models of an app whose classes all belong to the main actor.
//
// What sort descriptors name says `nonisolated`: key paths of isolated properties cannot be sent, and a descriptor
// can. Predicates that are made on the main actor may name the others, too.

@MainActor @Model
final class Notebook {
  nonisolated var title: String
  var created = Date.now
  var tags: [String] = []
  @Attribute(.unique) var slug: String
  @Relationship(deleteRule: .cascade, inverse: \NotebookPage.notebook)
  var pages: [NotebookPage] = []
  @Transient var isOpen = false

  var summary: String { "\(title): \(pages.count) pages" }

  init(title: String) {
    self.title = title
    slug = title.lowercased()
  }

  func add(_ text: String) {
    pages.append(NotebookPage(text: text))
    isOpen = true
  }
}

@MainActor @Model
class NotebookPage {
  nonisolated var text: String
  nonisolated var notebook: Notebook?

  init(text: String) { self.text = text }
}

@globalActor actor LedgerActor {
  static let shared = LedgerActor()
}

@LedgerActor @Model
final class LedgerEntry {
  var amount = Decimal(0)
  var note: String?

  init(amount: Decimal) { self.amount = amount }
}

// Models that say nothing of an actor, and belong to one all the same: by a protocol, by its conformance, by an actor whose
// name a macro cannot know, by a superclass.

@MainActor protocol Dated { var updatedAt: Date { get set } }

@Model
final class DiaryEntry: Dated {
  var updatedAt: Date
  var text = ""
  init(updatedAt: Date = .now) { self.updatedAt = updatedAt }
}

@Model
final class Appointment: @MainActor Dated {
  var updatedAt = Date.now
  init() {}
}

@globalActor actor Ledgers { static let shared = Ledgers() }

@Ledgers @Model
final class Voucher {
  var amount = 0
  init(amount: Int) { self.amount = amount }
}

@MainActor @Model
class Plot {
  var name = ""
  init(name: String) { self.name = name }
}

@available(macOS 26, iOS 26, *)
@Model
final class GardenPlot: Plot {
  var size = 0
  init(name: String, size: Int) {
    self.size = size
    super.init(name: name)
  }
}

@MainActor
final class NotebookViewModel {
  private let context: ModelContext
  private(set) var notebooks: [Notebook] = []

  init(container: ModelContainer) { context = container.mainContext }

  func create(_ title: String) throws {
    let notebook = Notebook(title: title)
    context.insert(notebook)
    notebook.add("first")
    try context.save()
    try reload()
  }

  func pages(of title: String, containing text: String) throws -> [NotebookPage] {
    try context.fetch(
      FetchDescriptor<NotebookPage>(
        predicate: #Predicate { $0.notebook?.title == title && $0.text.contains(text) },
        sortBy: [SortDescriptor(\.text)]
      )
    )
  }

  func tagged(_ tag: String, since date: Date) throws -> Predicate<Notebook> {
    #Predicate { $0.tags.contains(tag) && $0.created >= date && !$0.slug.isEmpty }
  }

  func wordy() -> Predicate<Notebook> { #Predicate { $0.summary.count > 3 } }

  func reload() throws {
    notebooks = try context.fetch(FetchDescriptor<Notebook>())
      .sorted { $0.title < $1.title }
  }
}
