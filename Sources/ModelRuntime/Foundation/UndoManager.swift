#if !canImport(Darwin)
public import Foundation

/// Records how to undo changes, and how to redo them: Foundation's class, which Linux
/// lacks.
///
/// Changes made between ``beginUndoGrouping()`` and ``endUndoGrouping()`` are undone together.
/// While ``groupsByEvent`` is on, changes made outside of a group open one by themselves, which ends
/// with the turn of the main run loop, or with the next ``undo()`` if no run loop runs.
///
/// If Foundation raises an exception this class does the nearest sensible thing: ``undo()`` ends
/// groups that are still open, and ending a group that was never begun does nothing.
///
/// An undo manager belongs to the thread or actor that made it, like the context it serves.
open class UndoManager: NSObject {
  /// The use of newly registered actions.
  private enum Activity {
    case registering, undoing, redoing
  }

  private var activity = Activity.registering
  /// The open groups, the outermost first.
  private var open: [UndoGroup] = []
  /// Whether the outermost open group was begun by an event rather than by a caller.
  private var isEventGroupOpen = false
  private var undoGroups: [UndoGroup] = []
  private var redoGroups: [UndoGroup] = []
  private var disabledCount = 0

  /// Whether a change outside of any group begins one that ends with the event.
  open var groupsByEvent = true

  /// The modes of the main run loop in which an event ends.
  open var runLoopModes: [RunLoop.Mode] = [.default]

  /// The maximum number of groups that can be undone; 0 means no limit.
  open var levelsOfUndo = 0 {
    didSet { trim() }
  }

  /// Creates an undo manager that has nothing to undo.
  public override init() {}

  // MARK: Grouping

  /// The number of nested open groups.
  open var groupingLevel: Int { open.count }

  /// Begins a group; actions registered until its end are undone together.
  open func beginUndoGrouping() {
    // A caller's group that begins first thing in an event is not nested in the event's.
    openEventGroupIfNeeded()
    openGroup()
  }

  /// Ends the group that was begun last.
  open func endUndoGrouping() {
    guard !open.isEmpty else { return }
    closeGroup()
    // Without a run loop nothing else would end an event group that holds only this one.
    if open.count == 1, isEventGroupOpen, eventEnd() == nil { closeGroup() }
  }

  private func openGroup() {
    open.append(UndoGroup())
    post(.NSUndoManagerCheckpoint)
    post(.NSUndoManagerDidOpenUndoGroup)
  }

  private func closeGroup() {
    post(.NSUndoManagerCheckpoint)
    post(.NSUndoManagerWillCloseUndoGroup)
    let group = open.removeLast()
    if !open.isEmpty {
      open[open.count - 1].append(contentsOf: group)
    } else {
      isEventGroupOpen = false
      if !group.isEmpty { keep(group) }
    }
    post(.NSUndoManagerDidCloseUndoGroup)
  }

  /// Adds a finished group to the undo or redo groups.
  private func keep(_ group: UndoGroup) {
    if activity == .undoing {
      redoGroups.append(group)
    } else {
      undoGroups.append(group)
      trim()
    }
  }

  private func trim() {
    guard levelsOfUndo > 0 else { return }
    undoGroups.removeFirst(max(0, undoGroups.count - levelsOfUndo))
    redoGroups.removeFirst(max(0, redoGroups.count - levelsOfUndo))
  }

  // MARK: Groups by event

  /// Calls a closure when an event is over.
  typealias EventEnd = (_ modes: [RunLoop.Mode], _ then: @escaping @Sendable () -> Void) -> Void

  /// The end of the current event, or `nil` if events are unknown: in a program that
  /// runs no main run loop, or on another thread.
  var eventEnd: () -> EventEnd? = {
    guard Thread.isMainThread, RunLoop.main.currentMode != nil else { return nil }
    return { modes, then in RunLoop.main.perform(inModes: modes, block: then) }
  }

  private func openEventGroupIfNeeded() {
    guard groupsByEvent, open.isEmpty, activity == .registering else { return }
    isEventGroupOpen = true
    openGroup()
    let reference = WeakReference(manager: self)
    eventEnd()?(runLoopModes) { reference.manager?.endEvent() }
  }

  /// Ends the group of the current event, before the event itself does.
  func endEventGroup() { endEvent() }

  /// Ends the group of the event that is over.
  private func endEvent() {
    guard isEventGroupOpen, open.count == 1 else { return }
    closeGroup()
  }

  /// Carries the manager to the end of the turn, on the thread that uses it.
  private struct WeakReference: @unchecked Sendable {
    weak var manager: UndoManager?
  }

  // MARK: Registering

  /// Whether changes are registered.
  open var isUndoRegistrationEnabled: Bool { disabledCount == 0 }

  /// Stops registering changes until ``enableUndoRegistration()`` has been called as often.
  open func disableUndoRegistration() { disabledCount += 1 }

  /// Reverts one ``disableUndoRegistration()``.
  open func enableUndoRegistration() { disabledCount = max(0, disabledCount - 1) }

  /// Records how to undo a change.
  ///
  /// - Parameters:
  ///   - target: The changed object; it is not kept alive, and the handler is skipped when it is gone.
  ///   - handler: Undoes the change; an action it registers redoes it.
  public func registerUndo<TargetType>(
    withTarget target: TargetType,
    handler: @escaping (TargetType) -> Void
  ) where TargetType: AnyObject {
    guard isUndoRegistrationEnabled else { return }
    openEventGroupIfNeeded()
    let action = UndoGroup.Action(target: target) { [weak target] in
      if let target { handler(target) }
    }
    // A change that is neither undone nor redone invalidates the redo groups.
    if activity == .registering { redoGroups.removeAll() }
    if open.isEmpty {
      var group = UndoGroup()
      group.append(action)
      keep(group)
    } else {
      open[open.count - 1].append(action)
    }
  }

  /// Forgets everything that could be undone or redone, and registers changes again.
  open func removeAllActions() {
    open = open.map { _ in UndoGroup() }
    undoGroups.removeAll()
    redoGroups.removeAll()
    disabledCount = 0
  }

  /// Forgets the actions of one target.
  open func removeAllActions(withTarget target: Any) {
    let target = target as AnyObject
    for index in open.indices { open[index].removeActions(of: target) }
    for index in undoGroups.indices { undoGroups[index].removeActions(of: target) }
    for index in redoGroups.indices { redoGroups[index].removeActions(of: target) }
    undoGroups.removeAll(where: \.isEmpty)
    redoGroups.removeAll(where: \.isEmpty)
  }

  // MARK: Undoing and redoing

  /// Whether there is something to undo.
  open var canUndo: Bool { !undoGroups.isEmpty || open.contains { !$0.isEmpty } }
  /// Whether there is something to redo.
  open var canRedo: Bool {
    post(.NSUndoManagerCheckpoint)
    return !redoGroups.isEmpty
  }
  /// Whether changes are being undone right now.
  open var isUndoing: Bool { activity == .undoing }
  /// Whether changes are being redone right now.
  open var isRedoing: Bool { activity == .redoing }

  /// Undoes the last group of changes, ending it first if it is still open.
  open func undo() {
    guard activity == .registering else { return }
    while !open.isEmpty { closeGroup() }
    undoNestedGroup()
  }

  /// Undoes the last group that was ended, and leaves open ones open.
  open func undoNestedGroup() {
    guard activity == .registering, let group = undoGroups.popLast() else { return }
    post(.NSUndoManagerCheckpoint)
    post(.NSUndoManagerWillUndoChange)
    perform(group, as: .undoing)
    post(.NSUndoManagerDidUndoChange)
  }

  /// Redoes the last group of changes that was undone.
  open func redo() {
    guard activity == .registering else { return }
    // Actions registered in an open group invalidate the redo groups.
    guard open.allSatisfy(\.isEmpty), let group = redoGroups.popLast() else { return }
    post(.NSUndoManagerCheckpoint)
    post(.NSUndoManagerWillRedoChange)
    perform(group, as: .redoing)
    post(.NSUndoManagerDidRedoChange)
  }

  private func perform(_ group: UndoGroup, as activity: Activity) {
    let outer = open
    let wasEventGroupOpen = isEventGroupOpen
    self.activity = activity
    var opposite = UndoGroup()
    opposite.name = group.name
    opposite.isDiscardable = group.isDiscardable
    opposite.userInfo = group.userInfo
    open = [opposite]
    group.perform()
    while !open.isEmpty { closeGroup() }
    self.activity = .registering
    open = outer
    isEventGroupOpen = wasEventGroupOpen
  }

  // MARK: Names

  /// The name of the last group that can be undone, or "".
  open var undoActionName: String { lastUndoGroup?.name ?? "" }
  /// The name of the last group that can be redone, or "".
  open var redoActionName: String { redoGroups.last?.name ?? "" }

  /// Names the open group, or the last one that was ended.
  open func setActionName(_ actionName: String) { change { $0.name = actionName } }

  /// The title of a menu item that undoes.
  open var undoMenuItemTitle: String { undoMenuTitle(forUndoActionName: undoActionName) }
  /// The title of a menu item that redoes.
  open var redoMenuItemTitle: String { redoMenuTitle(forUndoActionName: redoActionName) }

  /// The title of a menu item that undoes a named action.
  open func undoMenuTitle(forUndoActionName actionName: String) -> String {
    actionName.isEmpty ? "Undo" : "Undo \(actionName)"
  }

  /// The title of a menu item that redoes a named action.
  open func redoMenuTitle(forUndoActionName actionName: String) -> String {
    actionName.isEmpty ? "Redo" : "Redo \(actionName)"
  }

  // MARK: Properties of a group

  /// Whether the last group that can be undone may be dropped when a document is saved.
  open var undoActionIsDiscardable: Bool { lastUndoGroup?.isDiscardable ?? false }
  /// Whether the last group that can be redone may be dropped when a document is saved.
  open var redoActionIsDiscardable: Bool { redoGroups.last?.isDiscardable ?? false }

  /// Sets whether the open group may be dropped when a document is saved.
  open func setActionIsDiscardable(_ discardable: Bool) {
    change { $0.isDiscardable = discardable }
  }

  /// The value stored under a key with the last group that can be undone.
  open func undoActionUserInfoValue(forKey key: UserInfoKey) -> Any? {
    lastUndoGroup?.userInfo[key]
  }

  /// The value stored under a key with the last group that can be redone.
  open func redoActionUserInfoValue(forKey key: UserInfoKey) -> Any? {
    redoGroups.last?.userInfo[key]
  }

  /// Stores a value under a key with the open group.
  open func setActionUserInfoValue(_ value: Any?, forKey key: UserInfoKey) {
    change { $0.userInfo[key] = value }
  }

  /// The key of a value that is stored with a group.
  public struct UserInfoKey: Hashable, RawRepresentable, Sendable {
    public let rawValue: String
    /// Creates a key.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Creates a key.
    public init(_ rawValue: String) { self.rawValue = rawValue }
  }

  private var lastUndoGroup: UndoGroup? {
    open.first { !$0.isEmpty || !$0.name.isEmpty } ?? undoGroups.last
  }

  /// Changes the open group, or the last one that was ended.
  private func change(_ body: (inout UndoGroup) -> Void) {
    if !open.isEmpty {
      body(&open[open.count - 1])
    } else if !undoGroups.isEmpty {
      body(&undoGroups[undoGroups.count - 1])
    }
  }

  private func post(_ name: Notification.Name) {
    NotificationCenter.default.post(name: name, object: self)
  }
}

extension Notification.Name {
  /// Posted when a group is opened or ended, and when `canRedo` is read.
  public static let NSUndoManagerCheckpoint = Self("NSUndoManagerCheckpointNotification")
  /// A group has been opened.
  public static let NSUndoManagerDidOpenUndoGroup = Self(
    "NSUndoManagerDidOpenUndoGroupNotification"
  )
  /// A group is about to be ended.
  public static let NSUndoManagerWillCloseUndoGroup = Self(
    "NSUndoManagerWillCloseUndoGroupNotification"
  )
  /// A group has been ended.
  public static let NSUndoManagerDidCloseUndoGroup = Self(
    "NSUndoManagerDidCloseUndoGroupNotification"
  )
  /// Changes are about to be undone.
  public static let NSUndoManagerWillUndoChange = Self("NSUndoManagerWillUndoChangeNotification")
  /// Changes have been undone.
  public static let NSUndoManagerDidUndoChange = Self("NSUndoManagerDidUndoChangeNotification")
  /// Changes are about to be redone.
  public static let NSUndoManagerWillRedoChange = Self("NSUndoManagerWillRedoChangeNotification")
  /// Changes have been redone.
  public static let NSUndoManagerDidRedoChange = Self("NSUndoManagerDidRedoChangeNotification")
}
#endif
