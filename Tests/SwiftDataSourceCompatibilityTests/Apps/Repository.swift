import Foundation
import SwiftData

// A layer between an app and its models: protocols with requirements on models, generic helpers, an actor
// that imports in the background, and view models that observe without SwiftUI.

protocol Timestamped: PersistentModel {
  var updatedAt: Date { get set }
}

protocol NamedModel: PersistentModel {
  var name: String { get set }
  static func make(named name: String) -> Self
}

extension Timestamped {
  func touch(at date: Date = .now) { updatedAt = date }
}

@Model
final class Customer: Timestamped, NamedModel, CustomStringConvertible {
  var name: String
  var email: String?
  var updatedAt: Date
  @Relationship(deleteRule: .cascade, inverse: \Invoice.customer) var invoices: [Invoice] = []

  required init(name: String, email: String? = nil) {
    self.name = name
    self.email = email
    updatedAt = .distantPast
  }

  static func make(named name: String) -> Self { Self(name: name) }

  var details: String { "\(name) <\(email ?? "-")>" }
}

extension Customer {
  nonisolated var description: String { "a customer" }
}

@Model
final class Invoice: Timestamped {
  enum Status: Codable, Hashable {
    case draft
    case sent(on: Date)
    case paid(on: Date, method: String)
  }

  @Attribute(.unique) var number: Int
  var total: Decimal
  var status: Status = Status.draft
  var updatedAt: Date = Date.distantPast
  var customer: Customer?

  init(number: Int, total: Decimal, customer: Customer? = nil) {
    self.number = number
    self.total = total
    self.customer = customer
  }

  var isPaid: Bool {
    if case .paid = status { return true }
    return false
  }
}

struct InvoiceDTO: Codable, Sendable {
  var number: Int
  var total: Decimal
  var customer: String
}

struct ModelRepository<Model: PersistentModel> {
  let context: ModelContext

  func all(sortedBy sort: SortDescriptor<Model>...) throws -> [Model] {
    try context.fetch(FetchDescriptor(sortBy: sort))
  }

  func first(where predicate: Predicate<Model>) throws -> Model? {
    var descriptor = FetchDescriptor(predicate: predicate)
    descriptor.fetchLimit = 1
    return try context.fetch(descriptor).first
  }

  func count(where predicate: Predicate<Model>? = nil) throws -> Int {
    try context.fetchCount(FetchDescriptor(predicate: predicate))
  }

  @discardableResult
  func insert(_ model: Model) -> Model {
    context.insert(model)
    return model
  }

  func deleteAll(where predicate: Predicate<Model>? = nil) throws {
    try context.delete(model: Model.self, where: predicate)
  }
}

extension ModelRepository where Model: Timestamped {
  func touchAll(at date: Date) throws {
    for model in try all() { model.touch(at: date) }
  }
}

extension ModelContext {
  func existing<T: PersistentModel>(_ type: T.Type, _ id: PersistentIdentifier) throws -> T? {
    if let registered: T = registeredModel(for: id) { return registered }
    var descriptor = FetchDescriptor<T>(predicate: #Predicate { $0.persistentModelID == id })
    descriptor.fetchLimit = 1
    return try fetch(descriptor).first
  }

  func findOrCreate<T: NamedModel>(_ type: T.Type, named name: String) throws -> T {
    if let found = try fetch(FetchDescriptor<T>()).first(where: { $0.name == name }) {
      return found
    }
    let model = T.make(named: name)
    insert(model)
    return model
  }
}

@ModelActor
actor InvoiceImporter {
  private(set) var imported = 0

  func `import`(_ invoices: [InvoiceDTO]) throws -> [PersistentIdentifier] {
    var models: [Invoice] = []
    for dto in invoices {
      let customer = try modelContext.findOrCreate(Customer.self, named: dto.customer)
      let invoice = Invoice(number: dto.number, total: dto.total)
      customer.invoices.append(invoice)
      models.append(invoice)
      imported += 1
    }
    try modelContext.save()
    return models.map(\.persistentModelID)
  }

  func total(of ids: [PersistentIdentifier]) -> Decimal {
    ids.compactMap { self[$0, as: Invoice.self]?.total }.reduce(0, +)
  }
}

@Observable
final class CustomerListModel {
  private let repository: ModelRepository<Customer>
  private(set) var customers: [Customer] = []
  var selection: Set<Customer> = []
  var searchText = ""

  init(context: ModelContext) { repository = ModelRepository(context: context) }

  var selectedNames: [String] { selection.map(\.name).sorted() }

  func reload() throws {
    let text = searchText
    let predicate = #Predicate<Customer> {
      text.isEmpty || $0.name.contains(text) || ($0.email?.contains(text) ?? false)
    }
    customers = try repository.context.fetch(
      FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.name)])
    )
  }
}
