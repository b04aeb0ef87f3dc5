import Foundation
import LogEngine
import ModelRuntime
import SwiftData
import Testing

@testable import LogStore

@Suite struct `A plan for columns` {
  private let tables: TableStore

  init() throws { tables = try TableStore(inMemoryFor: goodsSchema, migrationPlan: nil) }

  private func plan(_ predicate: Predicate<Goods.Item>) throws -> ColumnPlan {
    let table = try #require(tables.tables.first { $0.descriptor.entityName == "Item" })
    return ColumnPlan(try QueryExpression(predicate), of: table, StoreResolver(tables))
  }

  @Test func `answers comparisons, null tests and what is put together of them`() throws {
    let name = "Oslo"
    let predicates: [Predicate<Goods.Item>] = [
      #Predicate { $0.number > 3 && $0.name == name },
      #Predicate { $0.small == nil || !$0.isOn },
      #Predicate { ($0.small ?? 2) < 3 },
      #Predicate { $0.isOn ? $0.isNew : $0.name.starts(with: name) },
      #Predicate { $0.small! > 3 && $0.isOn },
    ]
    for predicate in predicates {
      let plan = try plan(predicate)
      #expect(plan.isExact, "\(predicate)")
      #expect(plan.tells, "\(predicate)")
    }
  }

  @Test func `leaves to rows what columns do not tell, and only that`() throws {
    let split = try plan(#Predicate { $0.number > 3 && $0.number % 2 == 1 })
    #expect(split.tells)
    #expect(!split.isExact)
    #expect(split.columns.count == 1)
    let other = try plan(#Predicate { $0.number > 3 || $0.number % 2 == 1 })
    #expect(!other.tells)
    let negated = try plan(#Predicate { !($0.number > 3 && $0.number % 2 == 1) })
    #expect(!negated.tells)
    let path = try plan(#Predicate { ($0.parent?.number ?? 0) > 3 })
    #expect(!path.tells)
  }

  @Test func `reads a forced value exactly only where all must hold`() throws {
    #expect(try plan(#Predicate { $0.isOn && $0.small! > 3 }).isExact)
    #expect(try !plan(#Predicate { $0.small! > 3 || $0.isOn }).isExact)
    #expect(try !plan(#Predicate { !($0.small! > 3) }).tells)
  }

  @Test func `passes over blocks by the bounds of what must hold`() throws {
    func zones(_ predicate: Predicate<Goods.Item>) throws -> [ZoneCondition] {
      try plan(predicate).zones
    }
    let table = try #require(tables.engine.catalogue.table(named: "Item"))
    let number = try #require(table.column(named: "number")).number
    let amount = try #require(table.column(named: "amount")).number
    #expect(
      try zones(#Predicate { $0.number > 3 && $0.amount <= 2 })
        == [.integer(column: number, 4 ... .max), .orNull(.double(column: amount, -.infinity...2))]
    )
    #expect(try zones(#Predicate { $0.number > 3 || $0.amount <= 2 }).isEmpty)
    let small = try #require(table.column(named: "small")).number
    #expect(
      try zones(#Predicate { ($0.small ?? 5) > 3 })
        == [.orNull(.integer(column: small, 4 ... .max))]
    )
    #expect(try zones(#Predicate { ($0.small ?? 0) > 3 }) == [.integer(column: small, 4 ... .max)])
    // The Kelvin sign is spelled otherwise, and equal to a K.
    #expect(try zones(#Predicate { $0.name == "Kelvin" }).isEmpty)
    #expect(try zones(#Predicate { $0.name == "Oslo" }).count == 1)
  }
}
