import Foundation
public import ModelRuntime

/// Where the store of a shelf is, and what can be done with it while it is closed.
public protocol ShelfPlace: Sendable {
  /// How the store is opened.
  var configuration: any DataStoreConfiguration { get }
  /// Packs what is there, if the store can.
  func compact() throws
  /// Takes away what was made.
  func remove()
}

/// Where the rows of a store stand when it is asked.
public enum Packing: String, CaseIterable, Sendable {
  /// In memory.
  case memory
  /// As they were saved.
  case log
  /// All packed.
  case packed
  /// Some packed.
  case mixed
  /// As they were saved, and opened again.
  case reopened
}

/// A store of random pieces, and a record of all that is in it.
final class Shelf {
  /// What is unsaved in the context that is asked.
  enum Unsaved: String, CaseIterable {
    case nothing, insertions, changes, deletions, others, everything
  }

  let packing: Packing
  private let place: any ShelfPlace
  private(set) var container: ModelContainer
  /// What is saved.
  private(set) var saved = World()
  private var nextSerial = 1
  /// Whether the rows of gadgets come before those of other pieces.
  private var gadgetsAreFirst = false

  init(_ packing: Packing, at place: any ShelfPlace, count: Int, _ random: inout Chance) throws {
    self.packing = packing
    self.place = place
    container = try ModelContainer(for: differentialSchema, configurations: [place.configuration])
    try addOthers(&random)
    try save(inserting: count * 2 / 3, &random)
    if packing == .packed || packing == .mixed { try compact() }
    try save(inserting: count / 3, &random)
    try deleteOthers(&random)
    if packing == .packed { try compact() }
    if packing == .reopened { try reopen() }
    // Which class comes first is the store's to say.
    gadgetsAreFirst = try ModelContext(container).fetch(FetchDescriptor<Piece>()).first is Gadget
  }

  /// The serial numbers of saved pieces in the order of their rows: class by class, in the order of their saves.
  func rowOrder(of world: World) -> [Int] {
    func isOfFirstClass(_ piece: PieceRecord) -> Bool { (piece.power != nil) == gadgetsAreFirst }
    let pieces = world.pieces.values.sorted { $0.serial < $1.serial }
    return (pieces.filter(isOfFirstClass) + pieces.filter { !isOfFirstClass($0) }).map(\.serial)
  }

  deinit { place.remove() }

  /// Closes the container before something else opens the store.
  private func close() throws {
    container = try ModelContainer(for: differentialSchema, configurations: [])
  }

  private func reopen() throws {
    try close()
    container = try ModelContainer(for: differentialSchema, configurations: [place.configuration])
  }

  private func compact() throws {
    try close()
    try place.compact()
    container = try ModelContainer(for: differentialSchema, configurations: [place.configuration])
  }

  private func addOthers(_ random: inout Chance) throws {
    let context = ModelContext(container)
    for serial in 1...6 {
      let maker = MakerRecord(
        serial: serial,
        name: random.pick(Samples.texts),
        rank: random.pick(Fields.ranks),
        country: random.pick(Samples.texts + [nil, nil, nil, nil, nil, nil, nil, nil]),
        tone: random.pick(Tone.allCases)
      )
      saved.makers[serial] = maker
      context.insert(
        Maker(
          serial: serial,
          name: maker.name,
          rank: maker.rank,
          country: maker.country,
          tone: maker.tone
        )
      )
      let mark = MarkRecord(
        serial: serial,
        name: random.pick(Samples.texts),
        weight: random.pick(Samples.readings)
      )
      saved.marks[serial] = mark
      context.insert(Mark(serial: serial, name: mark.name, weight: mark.weight))
    }
    try context.save()
  }

  /// Deletes a maker and a mark: pieces that have them lose those, or go on naming them where nothing leads back.
  private func deleteOthers(_ random: inout Chance) throws {
    let context = ModelContext(container)
    let (maker, mark) = (random.pick(Array(1...6)), random.pick(Array(1...6)))
    for model in try context.fetch(FetchDescriptor<Maker>()) where model.serial == maker {
      context.delete(model)
    }
    for model in try context.fetch(FetchDescriptor<Mark>()) where model.serial == mark {
      context.delete(model)
    }
    try context.save()
    (saved.makers[maker], saved.marks[mark]) = (nil, nil)
  }

  /// Adds pieces, changes and deletes some, and saves.
  ///
  /// - Parameters:
  ///   - count: How many pieces to add.
  ///   - random: Chance.
  ///   - willSave: Called with what will be saved.
  /// - Throws: What the store throws.
  func save(
    inserting count: Int,
    _ random: inout Chance,
    willSave: (World) -> Void = { _ in }
  ) throws {
    var desk = try Desk(ModelContext(container), saved)
    desk.change(&random, share: 20)
    desk.delete(&random, share: 6)
    desk.insert(&random, count: count, firstSerial: nextSerial)
    nextSerial += count
    willSave(desk.truth.now)
    try desk.context.save()
    saved = desk.truth.now
  }

  /// A context with some unsaved changes.
  func desk(_ unsaved: Unsaved, _ random: inout Chance) throws -> Desk {
    var desk = try Desk(ModelContext(container), saved)
    switch unsaved {
    case .nothing: break
    case .insertions: desk.insert(&random, count: 1 + random.below(30), firstSerial: 10_000)
    case .changes: desk.change(&random, share: 1 + random.below(30))
    case .deletions: desk.delete(&random, share: 1 + random.below(20))
    case .others: desk.changeOthers(&random)
    case .everything:
      desk.changeOthers(&random)
      desk.insert(&random, count: 1 + random.below(30), firstSerial: 10_000)
      desk.change(&random, share: 15)
      desk.delete(&random, share: 8)
    }
    return desk
  }
}

/// What is in a context: what is saved, and what is not.
struct Truth: Sendable {
  let saved: World
  var now: World
  /// The pieces with unsaved changes.
  var changed: Set<Int> = []
  /// The unsaved pieces, in the order in which they were inserted.
  var inserted: [Int] = []

  init(saved: World) {
    self.saved = saved
    now = saved
  }
}

/// A context, and the truth about what is in it.
struct Desk {
  let context: ModelContext
  private(set) var truth: Truth
  private var pieces: [Int: Piece]
  private let makers: [Int: Maker]
  private let marks: [Int: Mark]

  /// The identifiers of the makers, by serial number.
  var makerIdentifiers: [Int: PersistentIdentifier] { makers.mapValues(\.persistentModelID) }

  init(_ context: ModelContext, _ saved: World) throws {
    self.context = context
    truth = Truth(saved: saved)
    func bySerial<M: PersistentModel>(_ serial: KeyPath<M, Int>) throws -> [Int: M] {
      let models = try context.fetch(FetchDescriptor<M>())
      return Dictionary(models.map { ($0[keyPath: serial], $0) }) { first, _ in first }
    }
    pieces = try bySerial(\Piece.serial)
    makers = try bySerial(\Maker.serial)
    marks = try bySerial(\Mark.serial)
  }

  mutating func insert(_ random: inout Chance, count: Int, firstSerial: Int) {
    for serial in firstSerial..<(firstSerial + count) {
      var record = PieceRecord(serial: serial, power: random.percent(30) ? 0 : nil)
      record.fill(&random)
      let piece = record.power == nil ? Piece(serial: serial) : Gadget(serial: serial)
      context.insert(piece)
      record.apply(to: piece, from: nil)
      pieces[serial] = piece
      relate(piece, &record, &random)
      truth.now.pieces[serial] = record
      truth.inserted.append(serial)
    }
  }

  mutating func change(_ random: inout Chance, share: Int) {
    for serial in truth.now.pieces.keys.sorted() where random.percent(share) {
      guard let piece = pieces[serial], let former = truth.now.pieces[serial] else { continue }
      var record = former
      record.fill(&random, 15)
      var isChanged = record.apply(to: piece, from: former)
      if random.percent(20) {
        relate(piece, &record, &random)
        isChanged =
          isChanged || record.maker != former.maker || record.former != former.former
          || present(record.marks) != present(former.marks)
          || present(record.spares) != present(former.spares)
      }
      truth.now.pieces[serial] = record
      if isChanged { truth.changed.insert(serial) }
    }
  }

  mutating func delete(_ random: inout Chance, share: Int) {
    for serial in truth.now.pieces.keys.sorted() where random.percent(share) {
      guard let piece = pieces[serial] else { continue }
      context.delete(piece)
      truth.now.pieces[serial] = nil
      pieces[serial] = nil
      truth.inserted.removeAll { $0 == serial }
    }
  }

  mutating func changeOthers(_ random: inout Chance) {
    for serial in truth.now.makers.keys.sorted() where random.percent(40) {
      guard let maker = makers[serial], var record = truth.now.makers[serial] else { continue }
      record.rank = random.pick(Fields.ranks)
      record.name = random.pick(Samples.texts)
      record.tone = random.pick(Tone.allCases)
      (maker.rank, maker.name, maker.tone) = (record.rank, record.name, record.tone)
      truth.now.makers[serial] = record
    }
    for serial in truth.now.marks.keys.sorted() where random.percent(40) {
      guard let mark = marks[serial], var record = truth.now.marks[serial] else { continue }
      record.weight = random.pick(Samples.readings)
      mark.weight = record.weight
      truth.now.marks[serial] = record
    }
  }

  /// The marks that are not gone: a list that is set to what it shows does not change.
  private func present(_ serials: [Int]) -> [Int] { serials.filter { marks[$0] != nil } }

  private func relate(_ piece: Piece, _ record: inout PieceRecord, _ random: inout Chance) {
    let (makerSerials, markSerials) = (makers.keys.sorted(), marks.keys.sorted())
    record.maker = random.percent(70) ? random.pick(makerSerials) : nil
    record.former = random.percent(60) ? random.pick(makerSerials) : nil
    record.marks = markSerials.filter { _ in random.percent(25) }
    record.spares = markSerials.filter { _ in random.percent(15) }
    piece.maker = record.maker.flatMap { makers[$0] }
    piece.former = record.former.flatMap { makers[$0] }
    piece.marks = record.marks.compactMap { marks[$0] }
    piece.spares = record.spares.isEmpty ? nil : record.spares.compactMap { marks[$0] }
  }
}
