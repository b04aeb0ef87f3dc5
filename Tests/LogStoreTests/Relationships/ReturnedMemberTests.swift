import Foundation
import SwiftData
import Testing

@testable import ModelRuntime

@Suite struct `A model whose delete is undone` {
  /// Another context has put it into a list meanwhile, which was read while it was deleted here.
  @Test(arguments: [false, true], [false, true])
  func `is in the lists that it was put into`(merges: Bool, isRead: Bool) throws {
    let context = try makeUniqueContext()
    context.automaticallyMergesChanges = merges
    let (tag, account) = (Tag("a"), Account(1))
    context.insert(tag)
    context.insert(account)
    try context.save()
    context.undoManager = UndoManager()
    context.delete(tag)
    context.processPendingChanges()
    let other = ModelContext(context.container)
    let same = try #require(try other.fetch(FetchDescriptor<Account>()).first)
    same.tags = try other.fetch(FetchDescriptor<Tag>())
    try other.save()
    if isRead { #expect(try context.fetch(FetchDescriptor<Account>()).first?.tags.isEmpty == true) }
    context.undoManager?.undo()
    #expect(try context.fetch(FetchDescriptor<Tag>()) == [tag])
    for _ in 0..<2 {
      #expect(tag.accounts == [account])
      #expect(account.tags == [tag])
      #expect(context.invariantViolations() == [])
      try context.save()
    }
  }
}
