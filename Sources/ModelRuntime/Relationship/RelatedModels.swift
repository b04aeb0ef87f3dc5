/// The models of a to-many relationship that are in memory, and the changes of the list since the last save.
///
/// A list is the stored one, without the members that left since and with those added since. The overlay (`added`,
/// `removed`, `isReordered`) is authoritative for unsaved changes; the members are a cache of the whole, valid as long as
/// nobody else can have changed the list (see ``ModelContext/listEpoch``), and may be absent altogether.
///
/// A class, separate from its typed half, so that code that does not know the models' type can hold it,
/// count it and change it without copying the list.
class RelatedModels {
  /// The members added since the last save, in order.
  ///
  /// Unless the list is reordered, they are after all others.
  @safe @exclusivity(unchecked) final var added = OrderedModels()
  /// The members that left since the last save, of a list that is stored with its owner: in any other list, the
  /// members themselves record that they left.
  @safe @exclusivity(unchecked) final var removed = OrderedModels()
  /// Those of `added` that are after all others even if the store has them: they left the list before they were added, or
  /// were added after one that did.
  ///
  /// Other added members that the store has by now stay in the store's place.
  @safe @exclusivity(unchecked) final var returned: Set<ObjectIdentifier> = []
  /// Former ranks of members that an undo restored to a list that was not in memory.
  ///
  /// They are after all others until the list is loaded, which places them and forgets the ranks.
  final var formerRanks: [ObjectIdentifier: Int64] = [:]
  /// Former ranks of members that an undo restored: their rows have none, or those of another list.
  ///
  /// They get them again if that keeps the order, so that others restored later find their places.
  final var ranksInFormerList: [ObjectIdentifier: Int64] = [:]
  /// The places of models that an undo is about to restore, whose own ends do not lead to the list's owner yet: if a later step
  /// of the undo restores these, they are members again.
  final var expected: [ObjectIdentifier: ListPlace] = [:]
  /// Models that a step of an undo did not put back, since their own ends lead elsewhere: if a later step has one lead here, the
  /// list is put together again.
  final var undecided: Set<ObjectIdentifier> = []
  /// Whether the order was changed since the last save other than by members that left, and others added at the end.
  @safe @exclusivity(unchecked) final var isReordered = false {
    didSet { if isReordered { moved = nil } }
  }
  /// In a list with its own order, the members that got other places, while those that are neither here nor in `added` are in
  /// the store's order among themselves; `nil` if that is not known.
  @safe @exclusivity(unchecked) final var moved: Set<ObjectIdentifier>?
  /// In a list with its own order, the members that others have added since: that order does not include them.
  @safe @exclusivity(unchecked) final var latecomers: Set<ObjectIdentifier> = []
  /// Whether members have left since the last save that were there before.
  @safe @exclusivity(unchecked) final var hasLostMembers = false
  /// Whether the members are in memory.
  @safe @exclusivity(unchecked) final var isLoaded = true
  /// The context's epoch of the store when the members were loaded.
  @safe @exclusivity(unchecked) final var epoch: UInt32 = 0
  /// Whether the next access must load the members again, whatever the epoch: an undo reverted changes
  /// made over an older state of the store.
  @safe @exclusivity(unchecked) final var isOutdated = false
  /// Whether the members are lent, to be changed in place.
  ///
  /// They are not put together again until the change is complete: it is found by comparing them with what became of the lent ones,
  /// and what others save meanwhile is no part of it.
  @safe @exclusivity(unchecked) final var isLent = false

  /// The context's count of deletes and cancelled deletes when the members were loaded, or last searched for deleted ones.
  @safe @exclusivity(unchecked) final var deletionCount = 0
  /// Number of members that were gone through, to find or to move some of them: tests count the steps.
  @safe @exclusivity(unchecked) final fileprivate(set) var stepCount = 0

  var count: Int { notOverridden() }
  /// Number of models the list keeps alive: its members, and removed ones that it has not released yet.
  ///
  /// - Complexity: O(1), whereas ``count`` may have to process the list first.
  var keptCount: Int { notOverridden() }
  /// The members, as a new array.
  var models: [any PersistentModel] { notOverridden() }

  /// Appends a model that is not a member yet.
  func append(_ model: any PersistentModel) { notOverridden() }

  /// The indices of some members, in ascending order.
  ///
  /// - Complexity: O(*n*), with a small factor: the members are not looked at, only their addresses.
  func indices(of members: Set<ObjectIdentifier>) -> [Int] { notOverridden() }

  /// The member at an index.
  func member(at index: Int) -> any PersistentModel { notOverridden() }

  /// Inserts a model that is not a member yet in its former place.
  func insert(_ model: any PersistentModel, at place: ListPlace) { notOverridden() }

  /// Removes a model.
  ///
  /// - Complexity: O(1); the next access to the list pays O(*n*) for all removed models.
  func remove(_ model: any PersistentModel) { notOverridden() }

  /// Removes a member that is deleted.
  ///
  /// Another model, also one that has the place in memory of a former member, stays.
  func removeIfGone(_ id: ObjectIdentifier) { notOverridden() }

  /// Releases the removed models, unless they are few compared with the members.
  ///
  /// - Complexity: O(1) per removed model, on average.
  func letGoOfRemovals() { notOverridden() }

  /// Whether a model is a member.
  ///
  /// - Complexity: O(1); the first time in a long list it is O(*n*).
  func contains(_ model: any PersistentModel) -> Bool { notOverridden() }

  /// The place of a member.
  ///
  /// - Complexity: O(1) for the last member. For others the first two times since members were moved are O(*n*).
  func place(of model: any PersistentModel) -> ListPlace { notOverridden() }

  /// Takes over the members of a list of the same relationship.
  func replace(with models: [any PersistentModel]) { notOverridden() }

  /// Returns a list with the same members and the same overlay, which shares their storage until one of them changes.
  func copy() -> RelatedModels { notOverridden() }

  private func notOverridden() -> Never {
    preconditionFailure("\(type(of: self)) must override this")
  }
}

extension RelatedModels {
  /// Returns the list with other objects in the place of some.
  ///
  /// - Parameters:
  ///   - survivor: Returns the object that stands for another one, or for itself.
  ///   - new: The objects that no stored list has: their removals are forgotten.
  /// - Returns: The list; each object is in it once.
  final func redirected(
    to survivor: (any PersistentModel) -> any PersistentModel,
    forgettingRemovalsOf new: Set<ObjectIdentifier>
  ) -> RelatedModels {
    func survivors(_ models: [any PersistentModel]) -> [any PersistentModel] {
      var seen: Set<ObjectIdentifier> = []
      return models.map(survivor).filter { seen.insert(ObjectIdentifier($0)).inserted }
    }
    var names: [ObjectIdentifier: ObjectIdentifier] = [:]
    for model in models + added.elements {
      names[ObjectIdentifier(model)] = ObjectIdentifier(survivor(model))
    }
    func ranks(_ ranks: [ObjectIdentifier: Int64]) -> [ObjectIdentifier: Int64] {
      Dictionary(
        ranks.compactMap { name, rank in names[name].map { ($0, rank) } },
        uniquingKeysWith: min
      )
    }
    let list = copy()
    list.replace(with: survivors(models))
    list.added = OrderedModels(survivors(added.elements))
    list.removed = OrderedModels(
      survivors(removed.elements.filter { !new.contains(ObjectIdentifier($0)) })
    )
    list.returned = Set(returned.compactMap { names[$0] })
    list.latecomers = Set(latecomers.compactMap { names[$0] })
    list.moved = moved.map { Set($0.compactMap { names[$0] }) }
    list.formerRanks = ranks(formerRanks)
    list.ranksInFormerList = ranks(ranksInFormerList)
    return list
  }

  /// Whether the list differs from the stored one in more than members that record it themselves.
  final var hasOverlay: Bool { !added.isEmpty || !removed.isEmpty || isReordered }

  /// Whether the members are in memory, and as new as the context's epoch.
  final func isCurrent(at epoch: UInt32) -> Bool { isLoaded && !isOutdated && self.epoch == epoch }

  /// Adds a model that is related from now on.
  ///
  /// A deleted model is no member while it is deleted: it is added to the list when it is inserted again.
  final func enter(_ model: any PersistentModel) {
    added.append(model)
    if isLoaded, !model._$state.isKnownGone { append(model) }
  }

  /// Removes a model that is no longer related.
  ///
  /// - Returns: Whether it was added since the last save.
  @discardableResult
  final func leave(_ model: any PersistentModel, _ property: ModelProperty) -> Bool {
    let wasAdded = recordRemoval(of: model, property)
    if isLoaded { remove(model) }
    return wasAdded
  }

  /// Records that a model leaves the list.
  ///
  /// - Returns: Whether it was added since the last save.
  @discardableResult
  final func recordRemoval(of model: any PersistentModel, _ property: ModelProperty) -> Bool {
    let wasAdded = added.remove(model)
    // One that was added here may have been added by others, too.
    if !wasAdded || model._$state.flags.contains(.stored) { hasLostMembers = true }
    if !returned.isEmpty { returned.remove(ObjectIdentifier(model)) }
    if !formerRanks.isEmpty { formerRanks[ObjectIdentifier(model)] = nil }
    if !ranksInFormerList.isEmpty { ranksInFormerList[ObjectIdentifier(model)] = nil }
    // Even one that was added here: others may have added it meanwhile.
    if !property.isDerivable, !removed.contains(model) { removed.append(model) }
    return wasAdded
  }

  /// Hides deleted members of a list that is in no store yet, and shows those no longer deleted.
  final func removeDeleted() {
    let former = models
    stepCount &+= former.count
    var present = former.filter { !$0._$state.isKnownGone }
    let known = Set(present.lazy.map { ObjectIdentifier($0) })
    let came = added.elements.filter { !$0._$state.isKnownGone }
    if came.contains(where: { !known.contains(ObjectIdentifier($0)) }) {
      // Without its own order, the list is the added members in the order of their addition.
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

  /// The rank of a member in an owner's list, or a former rank that it gets again; `nil` if it was added since the last save.
  final func rank(
    of member: any PersistentModel,
    at owner: _ModelState,
    _ inverse: ModelProperty
  ) -> Int64? {
    member._$state.storedRank(inverse, at: owner) ?? ranksInFormerList[ObjectIdentifier(member)]
  }

  /// Places members that an undo restored by their former ranks among the others.
  ///
  /// - Parameter rank: Returns another member's rank; `nil` for one added since the last save, which is after all others.
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

  /// Makes the current order of the members, all of which are in memory, the list's own.
  final func takeOrder() {
    isReordered = true
    latecomers.removeAll()
  }

  /// The same, if nothing but the places of some members changes.
  final func takeOrder(moving members: ObjectIdentifier...) {
    var all = isReordered ? moved : []
    all?.formUnion(members)
    takeOrder()
    moved = all
  }

  /// Releases the members, but keeps the overlay.
  final func unload() {
    replace(with: [])
    isLoaded = false
    undecided.removeAll()
  }

  /// Rebuilds the list from the stored one, without the members that left and with those added.
  ///
  /// Its own order stays: members added by others follow it, in the store's order; members removed by others are gone.
  final func rebase(on stored: [any PersistentModel]) {
    stepCount &+= stored.count
    // Others may have moved members among themselves.
    moved = nil
    if isReordered, isLoaded {
      let known = Set(stored.lazy.map { ObjectIdentifier($0) })
      let kept = models.filter {
        !$0._$state.isKnownGone && (known.contains(ObjectIdentifier($0)) || added.contains($0))
      }
      var present = Set(kept.lazy.map { ObjectIdentifier($0) })
      let new = stored.filter { !present.contains(ObjectIdentifier($0)) && !removed.contains($0) }
      present.formUnion(new.lazy.map { ObjectIdentifier($0) })
      // Those that were deleted when the list was last loaded, and no longer are.
      let returned = added.elements.filter {
        !$0._$state.isKnownGone && !present.contains(ObjectIdentifier($0))
      }
      exchange(for: takingIn(new, stored, kept) + returned)
    } else {
      latecomers.removeAll()
      var models = stored
      if !removed.isEmpty { models.removeAll { removed.contains($0) } }
      if !added.isEmpty {
        // A member that left and came back is in its last place; one that others have added too is in theirs.
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

  /// Puts members that others added after the list's own order, beside those added so before.
  ///
  /// Members appended here after such members stay after them.
  ///
  /// - Parameters:
  ///   - new: The members to add to the list.
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
    // In the store's order, in the places that some of them have and after the last of these.
    var next = stored.filter { latecomers.contains(ObjectIdentifier($0)) }.makeIterator()
    var result = zip(kept[..<end], isLatecomer).map { $1 ? next.next() ?? $0 : $0 }
    while let member = next.next() { result.append(member) }
    return result + kept[end...]
  }

  /// Takes over the members of the list, unless it already has them: arrays that share its storage then
  /// still share it.
  private final func exchange(for members: [any PersistentModel]) {
    if isLoaded, count == members.count, zip(models, members).allSatisfy({ $0 === $1 }) { return }
    replace(with: members)
  }

  /// Makes a model a member again that an undo has expected, now that its own end leads to the owner.
  ///
  /// - Returns: Whether it was expected.
  final func admit(_ model: any PersistentModel) -> Bool {
    guard let place = expected.removeValue(forKey: ObjectIdentifier(model)), isLoaded else {
      return false
    }
    removed.remove(model)
    if !added.contains(model) { added.append(model) }
    if !contains(model) { insert(model, at: place) }
    return true
  }

  /// Forgets the overlay: it is saved, and the members are those of the store.
  final func settle() {
    added.removeAll()
    removed.removeAll()
    returned.removeAll()
    formerRanks.removeAll()
    ranksInFormerList.removeAll()
    expected.removeAll()
    undecided.removeAll()
    latecomers.removeAll()
    isReordered = false
    hasLostMembers = false
    moved = nil
  }
}

/// The place of a list's member, relative to a neighbour: so that it can be restored after others were.
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
  /// Removed members that are still in `stored`, which keeps them alive meanwhile.
  @safe @exclusivity(unchecked) private var removals: Set<ObjectIdentifier> = []
  /// Members that were restored beside others, and are not in `stored` yet.
  @safe @exclusivity(unchecked) private var insertions: ListInsertions<Model>?
  /// The position of each of `stored`, once a long list was searched twice.
  ///
  /// Finding one model takes much less than noting the positions of all.
  @safe @exclusivity(unchecked) private var positions: [ObjectIdentifier: Int]?
  @safe @exclusivity(unchecked) private var wasSearched = false
  /// The members of `stored`, once a long list was searched: unlike positions, they survive insertions before other members.
  @safe @exclusivity(unchecked) private var identities: Set<ObjectIdentifier>?

  init(_ models: [Model]) { front = models }

  private func takeInTail() {
    let newcomers = tail
    tail = []
    front.append(contentsOf: Self.typed(newcomers))
  }

  /// The models that are of the class.
  private static func typed(_ models: [any PersistentModel]) -> [Model] {
    // For an empty array, this initializer writes to storage shared by the whole process.
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
    // The usual case, in which no class hierarchy is searched.
    if type(of: model) == Model.self { return unsafe unsafeDowncast(model, to: Model.self) }
    return model as? Model
  }

  /// Maximum number of members that are searched one by one.
  private static var shortCount: Int { 16 }
  /// Maximum number of members at which every save releases removed ones.
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
    if insertions?.hasStrays == true || removals.contains(ObjectIdentifier(model)) { compact() }
    positions?[ObjectIdentifier(model)] = front.count + tail.count
    identities?.insert(ObjectIdentifier(model))
    tail.append(model)
  }

  /// The index of a member.
  ///
  /// - Complexity: O(*n*), with a small factor.
  func index(of model: Model) -> Int? {
    compact()
    return search(for: ObjectIdentifier(model))
  }

  /// Moves a member before the one at an earlier index.
  func move(from former: Int, to index: Int) {
    compact()
    takeOrder(moving: ObjectIdentifier(stored[former]))
    forgetPositions()
    Self.move(from: former, to: index, in: &stored)
  }

  private static func move(from former: Int, to index: Int, in models: inout [Model]) {
    let model = models[former]
    models.replaceSubrange(former..<former + 1, with: EmptyCollection())
    models.insert(contentsOf: CollectionOfOne(model), at: index)
  }

  override func indices(of members: Set<ObjectIdentifier>) -> [Int] {
    compact()
    stepCount &+= stored.count
    var indices: [Int] = []
    // Few are compared with each member in registers; no member is at the address 0.
    let few = members.count <= 4 ? members.map { UInt(bitPattern: $0) } + [0, 0, 0, 0] : []
    unsafe stored.withUnsafeBytes { bytes in
      unsafe bytes.withMemoryRebound(to: UInt.self) { words in
        if few.isEmpty {
          for index in words.indices
          where unsafe members.contains(unsafeBitCast(words[index], to: ObjectIdentifier.self)) {
            indices.append(index)
          }
          return
        }
        let (first, second, third, fourth) = (few[0], few[1], few[2], few[3])
        for index in words.indices {
          let word = unsafe words[index]
          if word == first || word == second || word == third || word == fourth {
            indices.append(index)
          }
        }
      }
    }
    return indices
  }

  override func member(at index: Int) -> any PersistentModel { members[index] }

  override func insert(_ model: any PersistentModel, at place: ListPlace) {
    if case .end = place { return append(model) }
    guard let model = model as? Model else { return }
    if !removals.isEmpty { compact() }
    let isStray =
      switch place {
      case .end: false
      case .before(let neighbour), .after(let neighbour): !contains(neighbour)
      }
    insertions = insertions ?? ListInsertions()
    insertions?.add(model, at: place, isStray: isStray)
  }

  override func remove(_ model: any PersistentModel) {
    let id = ObjectIdentifier(model)
    let isLast = stored.last.map { ObjectIdentifier($0) } == id
    // The last member of all can go while others are still to be put in their places, none of them beside it.
    if let insertions, !isLast || insertions.mayHave(before: id) || insertions.mayHave(after: id) {
      compact()
    }
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

  override func removeIfGone(_ id: ObjectIdentifier) {
    guard contains(id), let position = position(of: id), stored[position]._$state.isKnownGone else {
      return
    }
    latecomers.remove(id)
    remove(stored[position])
  }

  override func contains(_ model: any PersistentModel) -> Bool { contains(ObjectIdentifier(model)) }

  private func contains(_ id: ObjectIdentifier) -> Bool {
    if removals.contains(id) { return false }
    if insertions?.contains(id) == true { return true }
    if stored.count <= Self.shortCount { return stored.contains { ObjectIdentifier($0) == id } }
    if let identities { return identities.contains(id) }
    stepCount &+= stored.count
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
    if let positions { return positions[id] }
    if !wasSearched || stored.count <= Self.shortCount {
      wasSearched = true
      return search(for: id)
    }
    compact()
    stepCount &+= stored.count
    let all = Dictionary(
      stored.enumerated().lazy.map { (ObjectIdentifier($1), $0) },
      uniquingKeysWith: { first, _ in first }
    )
    positions = all
    return all[id]
  }

  /// Finds a model by going through words (see ``takeOutRemovals()``).
  private func search(for id: ObjectIdentifier) -> Int? {
    let word = UInt(bitPattern: id)
    let position = unsafe stored.withUnsafeBytes { bytes in
      unsafe bytes.withMemoryRebound(to: UInt.self) { words in unsafe words.firstIndex(of: word) }
    }
    stepCount &+= position ?? stored.count
    return position
  }

  private func forgetPositions() {
    positions = nil
    wasSearched = false
  }

  override func place(of model: any PersistentModel) -> ListPlace {
    if let last = stored.last, last === model,
      insertions?.mayHave(after: ObjectIdentifier(last)) != true
    {
      return .end
    }
    guard let position = position(of: ObjectIdentifier(model)), position + 1 < stored.count
    else { return .end }
    var next = position + 1
    var previous = position - 1
    // The nearest remaining neighbour; most members removed before this one were on one side.
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
    forgetPositions()
    identities = nil
  }

  override func copy() -> RelatedModels {
    let copy = RelatedModelsOf(members)
    copy.added = added
    copy.removed = removed
    copy.returned = returned
    copy.formerRanks = formerRanks
    copy.ranksInFormerList = ranksInFormerList
    copy.undecided = undecided
    copy.isReordered = isReordered
    copy.moved = moved
    copy.hasLostMembers = hasLostMembers
    copy.latecomers = latecomers
    copy.isLoaded = isLoaded
    copy.epoch = epoch
    copy.isOutdated = isOutdated
    copy.deletionCount = deletionCount
    return copy
  }

  private func compact() {
    if removals.isEmpty, insertions == nil { return }
    stepCount &+= stored.count
    forgetPositions()
    if !removals.isEmpty {
      takeOutRemovals()
      identities?.subtract(removals)
      removals = []
    }
    if let insertions {
      self.insertions = nil
      stored = insertions.applied(to: stored)
      identities?.formUnion(insertions.identities)
    }
  }

  /// Moves removed models behind the members, and releases them there.
  ///
  /// By words, since walking an array whose class is known only at run time costs a hundred times as much: an app that
  /// repeatedly removes one member and reads the list pays for all members each time.
  private func takeOutRemovals() {
    let removals = removals
    let removedCount = unsafe stored.withUnsafeMutableBytes { bytes in
      unsafe bytes.withMemoryRebound(to: UInt.self) { words in
        unsafe removals.count <= 4 ? words.moveFewToEnd(removals) : words.moveToEnd(removals)
      }
    }
    stored.removeLast(removedCount)
  }
}

extension UnsafeMutableBufferPointer<UInt> {
  /// Moves the words of some objects to the end.
  ///
  /// - Returns: The number of them that were found.
  fileprivate func moveToEnd(_ objects: Set<ObjectIdentifier>) -> Int {
    var kept = 0
    var removed: [UInt] = []
    for index in indices {
      let word = unsafe self[index]
      if unsafe objects.contains(unsafeBitCast(word, to: ObjectIdentifier.self)) {
        removed.append(word)
      } else {
        if kept < index { unsafe self[kept] = word }
        kept += 1
      }
    }
    for (place, word) in removed.enumerated() { unsafe self[kept + place] = word }
    return removed.count
  }

  /// The same for few objects: the words between them are moved at once, and those before the first one not at all.
  fileprivate func moveFewToEnd(_ objects: Set<ObjectIdentifier>) -> Int {
    let places = objects.compactMap { unsafe firstIndex(of: UInt(bitPattern: $0)) }.sorted()
    guard var kept = places.first, let base = baseAddress else { return 0 }
    let removed = places.map { unsafe self[$0] }
    for (number, place) in places.enumerated() {
      let end = number + 1 < places.count ? places[number + 1] : count
      unsafe (base + kept).update(from: base + place + 1, count: end - place - 1)
      kept += end - place - 1
    }
    for (place, word) in removed.enumerated() { unsafe self[kept + place] = word }
    return removed.count
  }
}

/// Members to be restored in a list beside others, all in one pass.
private struct ListInsertions<Model: PersistentModel> {
  private var before: [ObjectIdentifier: [Model]] = [:]
  private var after: [ObjectIdentifier: [Model]] = [:]
  private var all: [Model] = []
  private(set) var identities: Set<ObjectIdentifier> = []
  /// Whether the neighbours of some are gone: these become the last ones.
  private(set) var hasStrays = false

  func contains(_ id: ObjectIdentifier) -> Bool { identities.contains(id) }

  /// Whether any may be right before a member, or right after it.
  func mayHave(before id: ObjectIdentifier) -> Bool { hasStrays || before[id] != nil }
  func mayHave(after id: ObjectIdentifier) -> Bool { hasStrays || after[id] != nil }

  private enum Step {
    case visit(Model)
    case emit(Model)
  }

  mutating func add(_ model: Model, at place: ListPlace, isStray: Bool) {
    if isStray { hasStrays = true }
    all.append(contentsOf: CollectionOfOne(model))
    identities.insert(ObjectIdentifier(model))
    switch place {
    case .end: break
    case .before(let next): before[ObjectIdentifier(next), default: []].append(model)
    case .after(let previous): after[ObjectIdentifier(previous), default: []].append(model)
    }
  }

  /// Returns the list with the insertions.
  func applied(to list: [Model]) -> [Model] {
    var result: [Model] = []
    result.reserveCapacity(list.count + all.count)
    // Members beside a member may have neighbours of their own: a stack instead of recursion, as chains are long.
    var steps: [Step] = []
    for member in list {
      steps.append(.visit(member))
      while let step = steps.popLast() {
        switch step {
        case .emit(let model): result.append(contentsOf: CollectionOfOne(model))
        case .visit(let model):
          // The last inserted one is next to its neighbour.
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
  /// Whether an array is this list's storage, unchanged: every change to a shared array copies it.
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
    // Only the array itself still holds the storage, unless the app took a copy of it: making the
    // array unique then gives it new storage.
    let before = unsafe array.withUnsafeBufferPointer { $0.baseAddress }
    let isUnique =
      unsafe array.withUnsafeMutableBufferPointer { unsafe UnsafePointer($0.baseAddress) } == before
    if isUnique { body(&array) }
    front = array
    return isUnique
  }

  /// Appends a model to an array that shares this list's storage, without copying it.
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

  /// Inserts a model at an index of an array that shares this list's storage, without copying it.
  ///
  /// - Returns: Whether that was possible: not if a third array shares the storage too.
  func insert(_ model: Model, at index: Int, inSharing array: inout [Model]) -> Bool {
    change(sharing: &array) {
      forgetPositions()
      identities?.insert(ObjectIdentifier(model))
      added.append(model)
      // An added member's place is its own, whatever the order of the others.
      if index < $0.count { takeOrder(moving: ObjectIdentifier(model)) }
      $0.insert(contentsOf: CollectionOfOne(model), at: index)
    }
  }

  /// Removes the model at an index of an array that shares this list's storage, without copying it.
  ///
  /// - Returns: Whether that was possible: not if a third array shares the storage too.
  func remove(at index: Int, fromSharing array: inout [Model], _ property: ModelProperty) -> Bool {
    change(sharing: &array) {
      let model = $0[index]
      if index == $0.count - 1 {
        positions?[ObjectIdentifier(model)] = nil
      } else {
        forgetPositions()
      }
      identities?.remove(ObjectIdentifier(model))
      recordRemoval(of: model, property)
      $0.remove(at: index)
    }
  }

  /// Moves the model at an index of an array that shares this list's storage before an earlier one, without copying it.
  ///
  /// - Returns: Whether that was possible: not if a third array shares the storage too.
  func move(from former: Int, to index: Int, inSharing array: inout [Model]) -> Bool {
    change(sharing: &array) {
      forgetPositions()
      takeOrder(moving: ObjectIdentifier($0[former]))
      Self.move(from: former, to: index, in: &$0)
    }
  }

  /// Exchanges the models at two indices of an array that shares this list's storage, without copying it.
  ///
  /// - Returns: Whether that was possible: not if a third array shares the storage too.
  func swap(_ first: Int, _ second: Int, inSharing array: inout [Model]) -> Bool {
    change(sharing: &array) {
      forgetPositions()
      takeOrder(moving: ObjectIdentifier($0[first]), ObjectIdentifier($0[second]))
      ($0[first], $0[second]) = ($0[second], $0[first])
    }
  }

  /// Gives an empty list its own storage, instead of the one all empty arrays share.
  func makeDistinct() {
    compact()
    if stored.capacity == 0 { stored.reserveCapacity(4) }
  }
}
