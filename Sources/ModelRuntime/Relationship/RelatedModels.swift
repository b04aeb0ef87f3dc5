/// The models of a to-many relationship as far as they are in memory, and what has changed in it since the last save.
///
/// A list is what the store has, without what left since and with what came since. The overlay (`added`, `removed`,
/// `isReordered`) is the truth about unsaved changes; the members are a cache of the whole, good as long as nobody
/// else can have changed the list (see ``ModelContext/listEpoch``), and may be absent altogether.
///
/// A class, and apart from its typed half, so that code that does not know the models' type can hold it,
/// count it and change it without copying the list.
class RelatedModels {
  /// The members that came since the last save, in order.
  ///
  /// Unless the list is reordered, they are behind all others.
  @safe @exclusivity(unchecked) final var added = OrderedModels()
  /// The members that left since the last save, of a list that is stored with its owner: of any other list, the
  /// members themselves tell that they left.
  @safe @exclusivity(unchecked) final var removed = OrderedModels()
  /// Those of `added` that are behind all others even if the store has them: they left the list before they came, or
  /// came after one that did.
  ///
  /// What is added otherwise, and the store has by now, stays where the store has it.
  @safe @exclusivity(unchecked) final var returned: Set<ObjectIdentifier> = []
  /// The ranks that members had which an undo brought back to a list that was not in memory.
  ///
  /// They are behind all others until the list is put together, which places them and forgets the ranks.
  final var formerRanks: [ObjectIdentifier: Int64] = [:]
  /// The ranks that members had which an undo brought back: their rows have none, or those of another list.
  ///
  /// They get them again where that keeps the order, so that others which come back later find their places.
  final var ranksInFormerList: [ObjectIdentifier: Int64] = [:]
  /// Whether the order was changed since the last save other than by members that left, and others that came last.
  @safe @exclusivity(unchecked) final var isReordered = false
  /// Of a list with an order of its own, the members that others have added since: that order says nothing of them.
  @safe @exclusivity(unchecked) final var latecomers: Set<ObjectIdentifier> = []
  /// Whether the members are in memory.
  @safe @exclusivity(unchecked) final var isLoaded = true
  /// What the context knew of the store when the members were put together.
  @safe @exclusivity(unchecked) final var epoch: UInt32 = 0
  /// Whether the next reader has to put the members together again, whatever the epoch: an undo took back what had
  /// been changed over an older state of the store.
  @safe @exclusivity(unchecked) final var isOutdated = false

  /// How many models the context had deleted, or deleted no more, when the members were put together.
  @safe @exclusivity(unchecked) final var deletionCount = 0

  var count: Int { notOverridden() }
  /// How many models the list keeps: its members, and those taken out that it has not let go of yet.
  ///
  /// - Complexity: O(1), whereas ``count`` may have to look through the list first.
  var keptCount: Int { notOverridden() }
  /// The members; a new list is made for it.
  var models: [any PersistentModel] { notOverridden() }

  /// Puts a model, which is no member yet, behind the others.
  func append(_ model: any PersistentModel) { notOverridden() }

  /// Puts a model, which is no member yet, where it was.
  func insert(_ model: any PersistentModel, at place: ListPlace) { notOverridden() }

  /// Takes a model out.
  ///
  /// - Complexity: O(1); the next one who looks at the list pays O(*n*) for all that were taken out.
  func remove(_ model: any PersistentModel) { notOverridden() }

  /// Lets go of the models that were taken out, if they are not few beside the members.
  ///
  /// - Complexity: O(1) for each that was taken out, on average.
  func letGoOfRemovals() { notOverridden() }

  /// Whether a model is a member.
  ///
  /// - Complexity: O(1); the first time in a long list it is O(*n*).
  func contains(_ model: any PersistentModel) -> Bool { notOverridden() }

  /// Where a member is.
  ///
  /// - Complexity: O(1); the first time in a long list it is O(*n*).
  func place(of model: any PersistentModel) -> ListPlace { notOverridden() }

  /// Takes over the members of a list of the same relationship.
  func replace(with models: [any PersistentModel]) { notOverridden() }

  /// A list with the same members and the same overlay, which shares their storage until one of them changes.
  func copy() -> RelatedModels { notOverridden() }

  private func notOverridden() -> Never {
    preconditionFailure("\(type(of: self)) must override this")
  }
}

extension RelatedModels {
  /// Whether the list differs from the stored one in more than members that say so themselves.
  final var hasOverlay: Bool { !added.isEmpty || !removed.isEmpty || isReordered }

  /// Whether the members are in memory, and as the context knows the store.
  final func isCurrent(at epoch: UInt32) -> Bool { isLoaded && !isOutdated && self.epoch == epoch }

  /// Adds a model that is related from now on.
  ///
  /// One that is deleted is no member as long as it is: it comes into the list when it is inserted again.
  final func enter(_ model: any PersistentModel) {
    added.append(model)
    if isLoaded, !model._$state.isKnownGone { append(model) }
  }

  /// Takes out a model that is not related any more.
  ///
  /// - Returns: Whether it came since the last save.
  @discardableResult
  final func leave(_ model: any PersistentModel, _ property: ModelProperty) -> Bool {
    let wasAdded = recordRemoval(of: model, property)
    if isLoaded { remove(model) }
    return wasAdded
  }

  /// Records that a model leaves the list.
  ///
  /// - Returns: Whether it came since the last save.
  @discardableResult
  final func recordRemoval(of model: any PersistentModel, _ property: ModelProperty) -> Bool {
    let wasAdded = added.remove(model)
    if !returned.isEmpty { returned.remove(ObjectIdentifier(model)) }
    if !formerRanks.isEmpty { formerRanks[ObjectIdentifier(model)] = nil }
    if !ranksInFormerList.isEmpty { ranksInFormerList[ObjectIdentifier(model)] = nil }
    // Also one that came here: others may have added it meanwhile.
    if !property.isDerivable, !removed.contains(model) { removed.append(model) }
    return wasAdded
  }

  /// Hides the members that are deleted, of a list that is in no store yet, and shows those that are no more.
  final func removeDeleted() {
    let former = models
    var present = former.filter { !$0._$state.isKnownGone }
    let known = Set(present.lazy.map { ObjectIdentifier($0) })
    let came = added.elements.filter { !$0._$state.isKnownGone }
    if came.contains(where: { !known.contains(ObjectIdentifier($0)) }) {
      // Without an order of its own, the list is what came, as it came.
      let isWhatCame = !isReordered && came.count >= present.count
      if isWhatCame, known.isSubset(of: came.lazy.map { ObjectIdentifier($0) }) {
        present = came
      } else {
        present += came.filter { !known.contains(ObjectIdentifier($0)) }
      }
    } else if present.count == former.count {
      return
    }
    replace(with: present)
  }

  /// The rank that a member has in an owner's list, or had and gets again; `nil` if it came since the last save.
  final func rank(
    of member: any PersistentModel,
    at owner: _ModelState,
    _ inverse: ModelProperty
  ) -> Int64? {
    member._$state.storedRank(inverse, at: owner) ?? ranksInFormerList[ObjectIdentifier(member)]
  }

  /// Puts members that an undo brought back to the places that their former ranks give them among the others.
  ///
  /// - Parameter rank: Returns another member's rank; one without came since the last save, and is behind all others.
  /// - Complexity: O(*n* log *n*) in the members.
  final func placeByFormerRanks(_ rank: (any PersistentModel) -> Int64?) {
    var returned: [(model: any PersistentModel, rank: Int64)] = []
    var others: [any PersistentModel] = []
    for member in models {
      if let rank = formerRanks.removeValue(forKey: ObjectIdentifier(member)) {
        returned.append((member, rank))
        ranksInFormerList[ObjectIdentifier(member)] = rank
      } else {
        others.append(member)
      }
    }
    if returned.isEmpty { return }
    returned.sort { $0.rank < $1.rank }
    var members: [any PersistentModel] = []
    members.reserveCapacity(others.count + returned.count)
    var next = 0
    for member in others {
      let rank = rank(member) ?? .max
      while next < returned.count, returned[next].rank < rank {
        members.append(returned[next].model)
        next += 1
      }
      members.append(member)
    }
    members += returned[next...].lazy.map(\.model)
    replace(with: members)
    isReordered = true
  }

  /// Makes the order of the members, all of which are in memory, the list's own.
  final func takeOrder() {
    isReordered = true
    latecomers.removeAll()
  }

  /// Forgets the members, but not what changed.
  final func unload() {
    replace(with: [])
    isLoaded = false
  }

  /// Makes the list what the store has, without what left and with what came.
  ///
  /// An order of its own stays: what others added is behind it, in the order of the store; what others took out is gone.
  final func rebase(on stored: [any PersistentModel]) {
    if isReordered, isLoaded {
      let known = Set(stored.lazy.map { ObjectIdentifier($0) })
      let kept = models.filter {
        !$0._$state.isKnownGone && (known.contains(ObjectIdentifier($0)) || added.contains($0))
      }
      var present = Set(kept.lazy.map { ObjectIdentifier($0) })
      let new = stored.filter { !present.contains(ObjectIdentifier($0)) && !removed.contains($0) }
      present.formUnion(new.lazy.map { ObjectIdentifier($0) })
      // Those that were deleted when the list was put together last, and are no more.
      let returned = added.elements.filter {
        !$0._$state.isKnownGone && !present.contains(ObjectIdentifier($0))
      }
      exchange(for: takingIn(new, stored, kept) + returned)
    } else {
      latecomers.removeAll()
      var models = stored
      if !removed.isEmpty { models.removeAll { removed.contains($0) } }
      if !added.isEmpty {
        // One that left and came back is where it came last; one that others have added too is where they did.
        if !returned.isEmpty { models.removeAll { returned.contains(ObjectIdentifier($0)) } }
        let present = Set(
          models.lazy.filter { self.added.contains($0) }.map { ObjectIdentifier($0) }
        )
        models += added.elements.filter {
          !$0._$state.isKnownGone && !present.contains(ObjectIdentifier($0))
        }
      }
      exchange(for: models)
    }
    isLoaded = true
    isOutdated = false
  }

  /// Puts members that others added behind an order of its own, and those that did so before beside them.
  ///
  /// What was appended here after such members stays behind them.
  ///
  /// - Parameters:
  ///   - new: The members that come into the list.
  ///   - stored: The members in the store, in its order.
  ///   - kept: The members that stay in the list, in its order.
  /// - Returns: All members.
  private final func takingIn(
    _ new: [any PersistentModel],
    _ stored: [any PersistentModel],
    _ kept: [any PersistentModel]
  ) -> [any PersistentModel] {
    latecomers.formIntersection(kept.lazy.map { ObjectIdentifier($0) })
    latecomers.subtract(added.elements.lazy.map { ObjectIdentifier($0) })
    if latecomers.isEmpty {
      latecomers.formUnion(new.lazy.map { ObjectIdentifier($0) })
      return kept + new
    }
    let isLatecomer = kept.map { latecomers.contains(ObjectIdentifier($0)) }
    let end = (isLatecomer.lastIndex(of: true) ?? -1) + 1
    latecomers.formUnion(new.lazy.map { ObjectIdentifier($0) })
    // In the order of the store, at the places that some of them have and behind the last of these.
    var next = stored.filter { latecomers.contains(ObjectIdentifier($0)) }.makeIterator()
    var result = zip(kept[..<end], isLatecomer).map { $1 ? next.next() ?? $0 : $0 }
    while let member = next.next() { result.append(member) }
    return result + kept[end...]
  }

  /// Takes over the members that a list was found to have, unless it has them: then arrays that share its storage go
  /// on sharing it.
  private final func exchange(for members: [any PersistentModel]) {
    if isLoaded, count == members.count, zip(models, members).allSatisfy({ $0 === $1 }) { return }
    replace(with: members)
  }

  /// Forgets what changed: it is saved, and the members are what the store has.
  final func settle() {
    added.removeAll()
    removed.removeAll()
    returned.removeAll()
    formerRanks.removeAll()
    ranksInFormerList.removeAll()
    latecomers.removeAll()
    isReordered = false
  }
}

/// Where a member of a list is, told by a neighbour: so that it can be put back after others were.
enum ListPlace {
  case end
  case before(any PersistentModel)
  case after(any PersistentModel)
}

/// The models of a to-many relationship as its property declares them.
final class RelatedModelsOf<Model: PersistentModel>: RelatedModels {
  /// The members, and those in `removals`, without those in `insertions`.
  private var stored: [Model] {
    get {
      if !tail.isEmpty { takeInTail() }
      return front
    }
    _modify {
      if !tail.isEmpty { takeInTail() }
      yield &front
    }
  }
  /// The first members of `stored`, and the last ones.
  ///
  /// Appending to an array whose class is known only at run time costs fifty times an ordinary append, so it is done once
  /// for many members.
  @safe @exclusivity(unchecked) private var front: [Model]
  @safe @exclusivity(unchecked) private var tail: [any PersistentModel] = []
  /// Members that were taken out and still are in `stored`, which keeps them alive meanwhile.
  @safe @exclusivity(unchecked) private var removals: Set<ObjectIdentifier> = []
  /// Members that were put back beside others, and are not in `stored` yet.
  @safe @exclusivity(unchecked) private var insertions: ListInsertions<Model>?
  /// Where each of `stored` is there, once a long list was asked.
  @safe @exclusivity(unchecked) private var positions: [ObjectIdentifier: Int]?
  /// The members of `stored`, once a long list was asked: unlike positions, they survive insertions before other members.
  @safe @exclusivity(unchecked) private var identities: Set<ObjectIdentifier>?

  init(_ models: [Model]) { front = models }

  private func takeInTail() {
    let newcomers = tail
    tail = []
    front.append(contentsOf: Self.typed(newcomers))
  }

  /// Those of some models that are of the class.
  private static func typed(_ models: [any PersistentModel]) -> [Model] {
    // Of an empty array, this initializer writes to storage that the whole process has in common.
    if models.isEmpty { return [] }
    return unsafe Array(unsafeUninitializedCapacity: models.count) { buffer, count in
      for model in models {
        guard let model = cast(model) else { continue }
        unsafe buffer.initializeElement(at: count, to: model)
        count += 1
      }
    }
  }

  private static func cast(_ model: any PersistentModel) -> Model? {
    // Nearly always, and then no hierarchy has to be looked at.
    if type(of: model) == Model.self { return unsafe unsafeDowncast(model, to: Model.self) }
    return model as? Model
  }

  /// Up to how many members are looked through one by one.
  private static var shortCount: Int { 16 }
  /// Up to how many members no save leaves behind what was taken out.
  private static var mediumCount: Int { 64 }

  /// The members; the list's own storage, so changing it makes a copy.
  var members: [Model] {
    @inline(__always) get {
      if !removals.isEmpty || insertions != nil { compact() }
      return stored
    }
  }

  override var count: Int { members.count }
  override var keptCount: Int {
    front.count + tail.count + (insertions?.identities.count ?? 0)
  }
  override var models: [any PersistentModel] {
    let members = members
    var models: [any PersistentModel] = []
    models.reserveCapacity(members.count)
    unsafe members.withUnsafeBufferPointer { members in
      for index in members.indices { unsafe models.append(members[index]) }
    }
    return models
  }

  override func append(_ model: any PersistentModel) {
    guard Self.cast(model) != nil else { return }
    if insertions != nil || removals.contains(ObjectIdentifier(model)) { compact() }
    positions?[ObjectIdentifier(model)] = front.count + tail.count
    identities?.insert(ObjectIdentifier(model))
    tail.append(model)
  }

  override func insert(_ model: any PersistentModel, at place: ListPlace) {
    if case .end = place { return append(model) }
    guard let model = model as? Model else { return }
    if !removals.isEmpty { compact() }
    insertions = insertions ?? ListInsertions()
    insertions?.add(model, at: place)
  }

  override func remove(_ model: any PersistentModel) {
    if insertions != nil { compact() }
    let id = ObjectIdentifier(model)
    if removals.isEmpty, let last = stored.last, last === model {
      stored.removeLast()
      positions?[id] = nil
      identities?.remove(id)
    } else {
      removals.insert(id)
    }
  }

  override func letGoOfRemovals() {
    if removals.count * 4 >= keptCount || keptCount <= Self.mediumCount { compact() }
  }

  override func contains(_ model: any PersistentModel) -> Bool {
    let id = ObjectIdentifier(model)
    if removals.contains(id) { return false }
    if insertions?.contains(id) == true { return true }
    if stored.count <= Self.shortCount { return stored.contains { ObjectIdentifier($0) == id } }
    if let identities { return identities.contains(id) }
    var all: Set<ObjectIdentifier> = []
    all.reserveCapacity(stored.count)
    unsafe stored.withUnsafeBufferPointer { members in
      for index in members.indices { unsafe all.insert(ObjectIdentifier(members[index])) }
    }
    identities = all
    return all.contains(id)
  }

  private func position(of id: ObjectIdentifier) -> Int? {
    if insertions != nil { compact() }
    if stored.count <= Self.shortCount { return stored.firstIndex { ObjectIdentifier($0) == id } }
    if let positions { return positions[id] }
    compact()
    let all = Dictionary(
      stored.enumerated().lazy.map { (ObjectIdentifier($1), $0) },
      uniquingKeysWith: { first, _ in first }
    )
    positions = all
    return all[id]
  }

  override func place(of model: any PersistentModel) -> ListPlace {
    guard let position = position(of: ObjectIdentifier(model)), position + 1 < stored.count
    else { return .end }
    var next = position + 1
    var previous = position - 1
    // The nearest neighbour that is still there; most members that went before this one went from one side.
    while next < stored.count || previous >= 0 {
      if next < stored.count {
        if !removals.contains(ObjectIdentifier(stored[next])) { return .before(stored[next]) }
        next += 1
      }
      if previous >= 0 {
        if !removals.contains(ObjectIdentifier(stored[previous])) {
          return .after(stored[previous])
        }
        previous -= 1
      }
    }
    return .end
  }

  override func replace(with models: [any PersistentModel]) {
    replace(with: Self.typed(models))
  }

  func replace(with models: [Model]) {
    front = models
    tail = []
    removals = []
    insertions = nil
    positions = nil
    identities = nil
  }

  override func copy() -> RelatedModels {
    let copy = RelatedModelsOf(members)
    copy.added = added
    copy.removed = removed
    copy.returned = returned
    copy.formerRanks = formerRanks
    copy.ranksInFormerList = ranksInFormerList
    copy.isReordered = isReordered
    copy.latecomers = latecomers
    copy.isLoaded = isLoaded
    copy.epoch = epoch
    copy.isOutdated = isOutdated
    copy.deletionCount = deletionCount
    return copy
  }

  private func compact() {
    if !removals.isEmpty {
      takeOutRemovals()
      identities?.subtract(removals)
      removals = []
      positions = nil
    }
    if let insertions {
      self.insertions = nil
      stored = insertions.applied(to: stored)
      positions = nil
      identities?.formUnion(insertions.identities)
    }
  }

  /// Moves what was taken out behind the members, and lets go of it there.
  ///
  /// By words, since going through an array whose class is known only at run time costs a hundred times as much: an app that
  /// takes one member out and looks at the list, again and again, pays for all members each time.
  private func takeOutRemovals() {
    let few = removals.count <= 4 ? removals.map { UInt(bitPattern: $0) } : []
    var kept = 0
    var removed: [UInt] = []
    unsafe stored.withUnsafeMutableBytes { bytes in
      unsafe bytes.withMemoryRebound(to: UInt.self) { words in
        for index in words.indices {
          let word = unsafe words[index]
          let isRemoval =
            few.isEmpty
            ? unsafe removals.contains(unsafeBitCast(word, to: ObjectIdentifier.self))
            : few.contains(word)
          if isRemoval {
            removed.append(word)
          } else {
            if kept < index { unsafe words[kept] = word }
            kept += 1
          }
        }
        for (place, word) in removed.enumerated() { unsafe words[kept + place] = word }
      }
    }
    stored.removeLast(removed.count)
  }
}

/// Members to be put back into a list beside others, all of them in one pass.
private struct ListInsertions<Model: PersistentModel> {
  private var before: [ObjectIdentifier: [Model]] = [:]
  private var after: [ObjectIdentifier: [Model]] = [:]
  private var all: [Model] = []
  private(set) var identities: Set<ObjectIdentifier> = []

  func contains(_ id: ObjectIdentifier) -> Bool { identities.contains(id) }

  private enum Step {
    case visit(Model)
    case emit(Model)
  }

  mutating func add(_ model: Model, at place: ListPlace) {
    all.append(contentsOf: CollectionOfOne(model))
    identities.insert(ObjectIdentifier(model))
    switch place {
    case .end: break
    case .before(let next): before[ObjectIdentifier(next), default: []].append(model)
    case .after(let previous): after[ObjectIdentifier(previous), default: []].append(model)
    }
  }

  /// The list with the insertions in it.
  func applied(to list: [Model]) -> [Model] {
    var result: [Model] = []
    result.reserveCapacity(list.count + all.count)
    // What is beside a member may have neighbours of its own: a stack instead of recursion, as chains are long.
    var steps: [Step] = []
    for member in list {
      steps.append(.visit(member))
      while let step = steps.popLast() {
        switch step {
        case .emit(let model): result.append(contentsOf: CollectionOfOne(model))
        case .visit(let model):
          // The one put in last is next to its neighbour.
          let id = ObjectIdentifier(model)
          for next in after[id] ?? [] { steps.append(.visit(next)) }
          steps.append(.emit(model))
          for previous in (before[id] ?? []).reversed() { steps.append(.visit(previous)) }
        }
      }
    }
    if result.count < list.count + all.count {
      // Their neighbours are gone.
      let placed = Set(result.lazy.map { ObjectIdentifier($0) })
      result += all.filter { !placed.contains(ObjectIdentifier($0)) }
    }
    return result
  }
}

// MARK: Changing a list in place

extension RelatedModelsOf {
  /// Whether an array is this list's storage, untouched: every change to a shared array copies it.
  func shares(_ array: [Model]) -> Bool {
    guard removals.isEmpty, insertions == nil, array.count == stored.count else { return false }
    return unsafe array.withUnsafeBufferPointer { theirs in
      unsafe stored.withUnsafeBufferPointer { ours in unsafe theirs.baseAddress == ours.baseAddress
      }
    }
  }

  /// Changes an array that shares this list's storage, and the list with it, without copying it.
  ///
  /// - Returns: Whether that was possible: not if a third array shares the storage too.
  func change(sharing array: inout [Model], _ body: (inout [Model]) -> Void) -> Bool {
    front = []
    tail = []
    // Only the array itself is left to hold the storage, unless the app took a copy of it: asking for
    // the right to change it then gives it storage of its own.
    let before = unsafe array.withUnsafeBufferPointer { $0.baseAddress }
    let isUnique =
      unsafe array.withUnsafeMutableBufferPointer { unsafe UnsafePointer($0.baseAddress) } == before
    if isUnique { body(&array) }
    front = array
    return isUnique
  }

  /// Adds a model behind the others to an array that shares this list's storage, without copying it.
  ///
  /// - Returns: Whether that was possible: not if a third array shares the storage too.
  func append(_ model: Model, toSharing array: inout [Model]) -> Bool {
    change(sharing: &array) {
      positions?[ObjectIdentifier(model)] = $0.count
      identities?.insert(ObjectIdentifier(model))
      added.append(model)
      $0.append(contentsOf: CollectionOfOne(model))
    }
  }

  /// Puts a model at an index of an array that shares this list's storage, without copying it.
  ///
  /// - Returns: Whether that was possible: not if a third array shares the storage too.
  func insert(_ model: Model, at index: Int, inSharing array: inout [Model]) -> Bool {
    change(sharing: &array) {
      positions = nil
      identities?.insert(ObjectIdentifier(model))
      added.append(model)
      if index < $0.count { takeOrder() }
      $0.insert(model, at: index)
    }
  }

  /// Takes the model at an index out of an array that shares this list's storage, without copying it.
  ///
  /// - Returns: Whether that was possible: not if a third array shares the storage too.
  func remove(at index: Int, fromSharing array: inout [Model], _ property: ModelProperty) -> Bool {
    change(sharing: &array) {
      let model = $0[index]
      if index == $0.count - 1 {
        positions?[ObjectIdentifier(model)] = nil
      } else {
        positions = nil
      }
      identities?.remove(ObjectIdentifier(model))
      recordRemoval(of: model, property)
      $0.remove(at: index)
    }
  }

  /// Makes sure that the storage of an empty list is its own, and not the one all empty arrays share.
  func makeDistinct() {
    compact()
    if stored.capacity == 0 { stored.reserveCapacity(4) }
  }
}
