import Foundation
import SwiftData

// A finance app: money as `Decimal`, raw enumerations, budgets with bounds.

struct Money: Codable, Hashable, Comparable {
  var amount: Decimal
  var currency: String = "EUR"

  static func < (lhs: Money, rhs: Money) -> Bool { lhs.amount < rhs.amount }
}

@Model
final class BankAccount {
  enum Kind: String, Codable, CaseIterable {
    case checking, savings, credit
  }

  @Attribute(.unique) var iban: String
  var name: String
  var kind: Kind
  var openingBalance: Decimal = 0
  var creditLimit: Money?
  @Attribute(.allowsCloudEncryption) var ownerName: String = ""

  @Relationship(deleteRule: .cascade, inverse: \AccountTransaction.account)
  var transactions: [AccountTransaction] = []

  init(iban: String, name: String, kind: Kind = .checking, openingBalance: Decimal = 0) {
    self.iban = iban
    self.name = name
    self.kind = kind
    self.openingBalance = openingBalance
  }

  var balance: Decimal {
    transactions.reduce(openingBalance) { $0 + $1.amount }
  }
}

@Model
final class AccountTransaction {
  #Index<AccountTransaction>([\.date], [\.amount])

  var date: Date
  var amount: Decimal
  var memo: String?
  var isReconciled = false
  var metadata: [String: String] = [:]

  var account: BankAccount?
  @Relationship(deleteRule: .nullify) var category: BudgetCategory?
  @Relationship(deleteRule: .deny, maximumModelCount: 3) var receipts: [Receipt] = []

  init(
    date: Date = .now,
    amount: Decimal,
    memo: String? = nil,
    category: BudgetCategory? = nil
  ) {
    self.date = date
    self.amount = amount
    self.memo = memo
    self.category = category
  }
}

@Model
final class BudgetCategory {
  @Attribute(.unique) var name: String
  var monthlyLimit: Decimal?
  var symbolName: String = "cart"
  @Relationship(inverse: \AccountTransaction.category) var transactions: [AccountTransaction] = []

  init(name: String, monthlyLimit: Decimal? = nil) {
    self.name = name
    self.monthlyLimit = monthlyLimit
  }
}

@Model
final class Receipt {
  var number: Int
  var scan: Data?
  init(number: Int) { self.number = number }
}

struct MonthlyReport {
  let totals: [String: Decimal]

  init(context: ModelContext, from start: Date, to end: Date) throws {
    let inRange = #Predicate<AccountTransaction> { transaction in
      transaction.date >= start && transaction.date < end && transaction.amount < 0
    }
    let transactions = try context.fetch(FetchDescriptor(predicate: inRange))
    totals = Dictionary(grouping: transactions) { $0.category?.name ?? "Other" }
      .mapValues { $0.reduce(Decimal(0)) { $0 + $1.amount } }
  }
}

extension AccountTransaction {
  static func large(over limit: Decimal, in accountName: String) -> Predicate<AccountTransaction> {
    #Predicate { transaction in
      transaction.amount > limit && transaction.account?.name == accountName
    }
  }
}
