import Foundation
import Testing

@testable import ModelRuntime

@Suite struct `An undo manager` {
  /// A number whose changes can be taken back.
  final class Counter {
    private(set) var value = 0
    let manager: UndoManager

    init(_ manager: UndoManager) { self.manager = manager }

    func set(_ newValue: Int) {
      let old = value
      manager.registerUndo(withTarget: self) { $0.set(old) }
      value = newValue
    }
  }

  let manager: UndoManager
  let counter: Counter

  init() {
    manager = UndoManager()
    manager.groupsByEvent = false
    counter = Counter(manager)
  }

  private func group(_ values: Int...) {
    manager.beginUndoGrouping()
    for value in values { counter.set(value) }
    manager.endUndoGrouping()
  }

  @Test func `has nothing to undo at first`() {
    #expect(!manager.canUndo && !manager.canRedo)
    manager.undo()
    manager.redo()
    manager.endUndoGrouping()
    #expect(manager.groupingLevel == 0 && !manager.isUndoing && !manager.isRedoing)
  }

  @Test func `takes a group back as one, and makes it again`() {
    group(1, 2, 3)
    group(4)
    manager.undo()
    #expect(counter.value == 3 && manager.canUndo && manager.canRedo)
    manager.undo()
    #expect(counter.value == 0 && !manager.canUndo && manager.canRedo)
    manager.undo()
    #expect(counter.value == 0)
    manager.redo()
    #expect(counter.value == 3)
    manager.redo()
    #expect(counter.value == 4 && !manager.canRedo)
    manager.undo()
    manager.undo()
    #expect(counter.value == 0)
  }

  @Test func `forgets what could be redone when something else changes`() {
    group(1)
    group(2)
    manager.undo()
    group(5)
    #expect(!manager.canRedo)
    manager.undo()
    #expect(counter.value == 1)
  }

  @Test func `takes nested groups back with the one around them`() {
    manager.beginUndoGrouping()
    counter.set(1)
    group(2, 3)
    #expect(manager.groupingLevel == 1)
    counter.set(4)
    manager.endUndoGrouping()
    manager.undo()
    #expect(counter.value == 0)
    manager.redo()
    #expect(counter.value == 4)
  }

  @Test func `ends an open group to undo it`() {
    group(1)
    manager.beginUndoGrouping()
    counter.set(2)
    manager.beginUndoGrouping()
    counter.set(3)
    manager.undo()
    #expect(counter.value == 1 && manager.groupingLevel == 0)
  }

  @Test func `keeps no empty groups`() {
    group()
    #expect(!manager.canUndo)
  }

  @Test func `undoes a change outside of any group by itself`() {
    counter.set(1)
    counter.set(2)
    manager.undo()
    #expect(counter.value == 1)
  }

  @Test func `groups the changes of an event`() {
    manager.groupsByEvent = true
    counter.set(1)
    counter.set(2)
    #expect(manager.groupingLevel == 1)
    manager.undo()
    #expect(counter.value == 0)
    manager.redo()
    #expect(counter.value == 2)
  }

  @Test func `ends an event with the group that a caller ends, where no run loop runs`() {
    manager.groupsByEvent = true
    group(1)
    #expect(manager.groupingLevel == 0)
    group(2)
    manager.undo()
    #expect(counter.value == 1)
  }

  @Test func `registers nothing while that is disabled, however often`() {
    manager.disableUndoRegistration()
    manager.disableUndoRegistration()
    manager.enableUndoRegistration()
    group(1)
    #expect(!manager.isUndoRegistrationEnabled && !manager.canUndo)
    manager.enableUndoRegistration()
    manager.enableUndoRegistration()
    group(2)
    #expect(manager.isUndoRegistrationEnabled && manager.canUndo)
    manager.undo()
    #expect(counter.value == 1)
  }

  @Test func `keeps no more levels than it is told`() {
    for value in 1...5 { group(value) }
    manager.levelsOfUndo = 2
    group(6)
    while manager.canUndo { manager.undo() }
    #expect(counter.value == 4)
    while manager.canRedo { manager.redo() }
    #expect(counter.value == 6)
  }

  @Test func `forgets a target, and everything`() {
    let other = Counter(manager)
    manager.beginUndoGrouping()
    counter.set(1)
    other.set(1)
    manager.endUndoGrouping()
    manager.beginUndoGrouping()
    other.set(2)
    manager.endUndoGrouping()
    manager.removeAllActions(withTarget: other)
    manager.undo()
    #expect(counter.value == 0 && other.value == 2 && !manager.canUndo)
    manager.disableUndoRegistration()
    manager.removeAllActions()
    #expect(!manager.canUndo && !manager.canRedo && manager.isUndoRegistrationEnabled)
  }

  @Test func `does not keep a target alive`() {
    var dying: Counter? = Counter(manager)
    weak let witness = dying
    group(1)
    dying?.set(7)
    dying = nil
    #expect(witness == nil)
    manager.undo()
    #expect(counter.value == 1)
    manager.undo()
    #expect(counter.value == 0)
  }

  @Test func `tells while it undoes and redoes`() {
    final class Witness {
      var seen: [String] = []
      func note(_ manager: UndoManager) {
        seen.append("\(manager.isUndoing) \(manager.isRedoing)")
        // What is called while undoing has no effect.
        manager.undo()
        manager.registerUndo(withTarget: self) { [unowned manager] in $0.note(manager) }
      }
    }
    let witness = Witness()
    witness.note(manager)
    manager.undo()
    manager.redo()
    #expect(witness.seen == ["false false", "true false", "false true"])
  }

  @Test func `names groups, and their redoing alike`() {
    manager.beginUndoGrouping()
    counter.set(1)
    manager.setActionName("Typing")
    manager.setActionIsDiscardable(true)
    manager.setActionUserInfoValue(7, forKey: .init("key"))
    manager.endUndoGrouping()
    #expect(manager.undoActionName == "Typing" && manager.undoMenuItemTitle == "Undo Typing")
    #expect(manager.redoActionName == "" && manager.redoMenuItemTitle == "Redo")
    #expect(manager.undoActionUserInfoValue(forKey: .init("key")) as? Int == 7)
    manager.undo()
    #expect(manager.redoActionName == "Typing" && manager.undoMenuItemTitle == "Undo")
    #expect(manager.redoActionIsDiscardable && !manager.undoActionIsDiscardable)
    #expect(manager.redoActionUserInfoValue(forKey: .init("key")) as? Int == 7)
    manager.redo()
    #expect(manager.undoActionName == "Typing" && manager.undoActionIsDiscardable)
    manager.setActionName("Pasting")
    #expect(manager.undoActionName == "Pasting")
  }

  @Test func `posts what it does`() {
    final class Log: @unchecked Sendable { var names: [String] = [] }
    let log = Log()
    let names: [Notification.Name] = [
      .NSUndoManagerDidOpenUndoGroup, .NSUndoManagerWillCloseUndoGroup,
      .NSUndoManagerDidCloseUndoGroup, .NSUndoManagerWillUndoChange, .NSUndoManagerDidUndoChange,
      .NSUndoManagerWillRedoChange, .NSUndoManagerDidRedoChange,
    ]
    let tokens = names.map { name in
      NotificationCenter.default.addObserver(forName: name, object: manager, queue: nil) { _ in
        log.names.append(
          String(name.rawValue.dropFirst("NSUndoManager".count).dropLast("Notification".count))
        )
      }
    }
    defer { for token in tokens { NotificationCenter.default.removeObserver(token) } }
    group(1)
    manager.undo()
    manager.redo()
    #expect(
      log.names == [
        "DidOpenUndoGroup", "WillCloseUndoGroup", "DidCloseUndoGroup",
        "WillUndoChange", "WillCloseUndoGroup", "DidCloseUndoGroup", "DidUndoChange",
        "WillRedoChange", "WillCloseUndoGroup", "DidCloseUndoGroup", "DidRedoChange",
      ]
    )
  }

  @Test func `ends an event's group with the event, where there are events`() {
    var end: (@Sendable () -> Void)?
    manager.groupsByEvent = true
    manager.eventEnd = { { _, then in end = then } }
    counter.set(1)
    group(2)
    #expect(manager.groupingLevel == 1)
    end?()
    #expect(manager.groupingLevel == 0)
    counter.set(3)
    end?()
    manager.undo()
    #expect(counter.value == 2)
    manager.undo()
    #expect(counter.value == 0)
    // The end of an event whose group was undone meanwhile.
    end?()
    #expect(manager.canRedo)
  }
}
