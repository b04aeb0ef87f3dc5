import LogStore
import SwiftData
import Testing

@Model final class Snap {
  var title: String
  @Attribute(.externalStorage) var photo: Data?
  @Attribute(.externalStorage) var caption: Data
  @Attribute(.externalStorage, .codable) var track: Track
  var likes: Int = 0

  init(_ title: String, photo: Data? = nil, caption: Data = Data(), track: Track = Track()) {
    self.title = title
    self.photo = photo
    self.caption = caption
    self.track = track
  }
}

/// A value that is stored whole.
struct Track: Codable, Equatable {
  var points: [Int] = []
}

/// Bytes of which no two of different seeds are equal.
private func bytes(_ count: Int, seed: UInt8 = 1) -> Data {
  Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ Int(seed)) })
}

@Suite struct `An attribute with external storage` {
  let folder: TemporaryFolder
  let url: URL

  init() throws {
    folder = try TemporaryFolder()
    url = folder.url.appending(path: "snaps.store")
  }

  func open(threshold: Int = 1000, allowsSave: Bool = true) throws -> ModelContext {
    var configuration = LogStoreConfiguration(url: url, allowsSave: allowsSave)
    configuration.externalStorageThreshold = threshold
    return ModelContext(try ModelContainer(for: Snap.self, configurations: configuration))
  }

  /// The files of blobs there are.
  var files: [URL] {
    let folder = url.appending(path: "blobs")
    let found = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    return (found?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == "blob" }
      .sorted { $0.path < $1.path }
  }

  /// Stores a model of some photo, and lets go of it.
  func store(_ snap: @autoclosure () -> Snap) throws {
    let context = try open()
    context.insert(snap())
    try context.save()
  }

  func first(_ context: ModelContext) throws -> Snap {
    try #require(try context.fetch(FetchDescriptor<Snap>()).first)
  }

  @Test func `has large values in files, small ones in the row, and reads both alike`() throws {
    try store(Snap("a", photo: bytes(5000), caption: bytes(10), track: Track(points: [1, 2])))
    #expect(files.count == 1)
    let snap = try first(try open())
    #expect(snap.photo == bytes(5000))
    #expect(snap.caption == bytes(10))
    #expect(snap.track == Track(points: [1, 2]))
  }

  @Test(arguments: [999, 1000, 1001])
  func `goes to a file above the threshold`(count: Int) throws {
    try store(Snap("a", photo: bytes(count)))
    #expect(files.count == (count > 1000 ? 1 : 0))
    #expect(try first(try open()).photo == bytes(count))
  }

  @Test func `keeps a composite in a file if it is stored whole`() throws {
    let track = Track(points: Array(1...3000))
    try store(Snap("a", track: track))
    #expect(files.count == 1)
    let context = try open()
    let snap = try first(context)
    #expect(snap.track == track)
    snap.likes = 1
    try context.save()
    #expect(files.count == 1)
  }

  @Test func `is not read until it is touched`() throws {
    try store(Snap("a", photo: bytes(5000)))
    try FileManager.default.removeItem(at: files[0])
    let context = try open()
    let snap = try first(context)
    #expect(snap.title == "a")
    snap.likes = 7
    try context.save()
    #expect(try first(context).likes == 7)
  }

  #if os(Linux)
  /// With a limit of 1,024 descriptors, the rest of 1,500 photos read as empty, and nothing could be saved.
  @Test func `takes no descriptor for as long as it is held`() throws {
    let context = try open()
    for number in 0..<40 {
      context.insert(Snap("\(number)", photo: bytes(5000, seed: UInt8(number))))
    }
    try context.save()
    let snaps = try open().fetch(FetchDescriptor<Snap>())
    let photos = snaps.map(\.photo)
    #expect(Set(photos).count == 40 && !photos.contains(nil))
    let folder = url.resolvingSymlinksInPath().path
    let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter {
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
      return target?.hasPrefix(folder + "/blobs") ?? false
    }
    #expect(open.isEmpty)
    withExtendedLifetime((snaps, photos)) {}
  }
  #endif

  @Test func `is nil where its file is damaged, and the next save says why, once`() throws {
    try store(Snap("a", photo: bytes(5000)))
    var damaged = try Data(contentsOf: files[0])
    damaged[2000] ^= 1
    try damaged.write(to: files[0])
    let context = try open()
    let snap = try first(context)
    #expect(snap.photo == nil)
    #expect(snap.title == "a")
    snap.title = "b"
    #expect {
      try context.save()
    } throws: { error in
      guard case LogStoreError.unreadableValue("Snap", "photo", 1, _) = error else { return false }
      return true
    }
    try context.save()
    #expect(try first(context).title == "b")
  }

  @Test func `keeps the file of a value that could not be read`() throws {
    try store(Snap("a", photo: bytes(5000)))
    let aside = folder.url.appending(path: "aside")
    let file = files[0]
    try FileManager.default.moveItem(at: file, to: aside)
    try {
      let context = try open()
      let snap = try first(context)
      #expect(snap.photo == nil)
      snap.title = "b"
      #expect(throws: LogStoreError.self) { try context.save() }
      try context.save()
    }()
    try FileManager.default.moveItem(at: aside, to: file)
    #expect(try first(try open()).photo == bytes(5000))
  }

  @Test func `is not written again when something else changes`() throws {
    let context = try open()
    let snap = Snap("a", photo: bytes(5000))
    context.insert(snap)
    try context.save()
    let before = files
    for number in 1...20 {
      snap.likes = number
      snap.title = "\(snap.photo?.count ?? 0)"
      try context.save()
    }
    #expect(files == before)
    #expect(snap.photo == bytes(5000))
  }

  @Test func `gives back its space when it is replaced, set to nil, or its model is deleted`()
    throws
  {
    try {
      let context = try open()
      let snaps = (1...3).map { Snap("\($0)", photo: bytes(5000, seed: UInt8($0))) }
      for snap in snaps { context.insert(snap) }
      try context.save()
      #expect(files.count == 3)
      snaps[0].photo = bytes(6000)
      snaps[1].photo = nil
      context.delete(snaps[2])
      try context.save()
    }()
    // The store was closed: whatever waited to be removed is gone.
    #expect(files.count == 1)
    let context = try open()
    let photos = try context.fetch(FetchDescriptor<Snap>(sortBy: [SortDescriptor(\.title)]))
    #expect(photos.map(\.photo) == [bytes(6000), nil])
  }

  @Test func `is what another context made of it when it is touched later`() throws {
    let context = try open()
    context.insert(Snap("a", photo: bytes(5000)))
    try context.save()
    let other = ModelContext(context.container)
    let theirs = try first(other)
    let mine = try first(ModelContext(context.container))
    let old = files
    theirs.photo = bytes(7000)
    try other.save()
    theirs.photo = bytes(8000)
    try other.save()
    // It goes by itself, sooner or later.
    for file in old { try? FileManager.default.removeItem(at: file) }
    #expect(mine.photo == bytes(8000))
  }

  /// Who writes knows nothing of those who only read.
  @Test(arguments: [bytes(8000), bytes(10), nil])
  func `is what the writer made of it, in a container that only reads`(photo: Data?) throws {
    let writer = try open()
    writer.insert(Snap("a", photo: bytes(5000)))
    writer.insert(Snap("b", photo: bytes(6000)))
    try writer.save()
    let reader = try open(allowsSave: false)
    let byTitle = FetchDescriptor<Snap>(sortBy: [SortDescriptor(\.title)])
    let read = try reader.fetch(byTitle)
    let old = files
    let written = try writer.fetch(byTitle)
    for count in [7000, 9000] {
      written[0].photo = bytes(count)
      try writer.save()
    }
    written[0].photo = photo
    writer.delete(written[1])
    try writer.save()
    // They go by themselves, sooner or later.
    for file in old { try? FileManager.default.removeItem(at: file) }
    #expect(read.map(\.photo) == [photo, nil])
    // No error is left to be thrown.
    #expect(try reader.fetch(byTitle).map(\.title) == ["a"])
  }

  /// Who writes knows nothing of the earlier states that those who only read look at.
  @Test func `is gone with its time, in an earlier state that a container which only reads shows`()
    throws
  {
    let writer = try open()
    let snap = Snap("a", photo: bytes(5000))
    writer.insert(snap)
    try writer.save()
    let reader = try open(allowsSave: false)
    let past = try ModelContext(reader.container, asOf: .now)
    let read = try #require(try past.fetch(FetchDescriptor<Snap>()).first)
    let old = files
    snap.photo = bytes(7000)
    try writer.save()
    for file in old { try? FileManager.default.removeItem(at: file) }
    #expect(read.photo == nil)
    let error = #expect(throws: SwiftDataError.self) { try past.fetch(FetchDescriptor<Snap>()) }
    #expect(error == .historyTokenExpired)
    #expect(try past.fetch(FetchDescriptor<Snap>()).map(\.title) == ["a"])
  }

  @Test func `can be asked for nil, and compared, in a predicate`() throws {
    let context = try open()
    context.insert(Snap("none"))
    context.insert(Snap("small", photo: bytes(10)))
    context.insert(Snap("large", photo: bytes(5000)))
    try context.save()
    func titles(_ predicate: Predicate<Snap>) throws -> [String] {
      try context.fetch(FetchDescriptor(predicate: predicate)).map(\.title).sorted()
    }
    let large = bytes(5000)
    #expect(try titles(#Predicate { $0.photo == nil }) == ["none"])
    #expect(try titles(#Predicate { $0.photo != nil }) == ["large", "small"])
    #expect(try titles(#Predicate { $0.photo == large }) == ["large"])
  }

  @Test func `asks no file whether it is nil`() throws {
    try store(Snap("a", photo: bytes(5000)))
    try FileManager.default.removeItem(at: files[0])
    let context = try open()
    let some = FetchDescriptor<Snap>(predicate: #Predicate { $0.photo != nil })
    #expect(try context.fetchCount(some) == 1)
  }

  @Test func `goes back to what the store has when the context is rolled back`() throws {
    let context = try open()
    let snap = Snap("a", photo: bytes(5000))
    context.insert(snap)
    try context.save()
    snap.photo = bytes(9000)
    context.rollback()
    #expect(snap.photo == bytes(5000))
    #expect(files.count == 1)
  }

  /// A snap all of whose large values are in files.
  private func makeLarge() -> Snap {
    Snap("a", photo: bytes(5000), caption: bytes(6000), track: Track(points: Array(1...3000)))
  }

  @Test(arguments: [false, true])
  func `comes back with its model when a saved delete is undone`(isRead: Bool) throws {
    try store(makeLarge())
    let context = try open()
    context.undoManager = UndoManager()
    let snap = try first(context)
    if isRead { _ = (snap.photo, snap.caption, snap.track) }
    context.delete(snap)
    try context.save()
    context.undoManager?.undo()
    try context.save()
    #expect(!context.hasChanges)
    let stored = try first(ModelContext(context.container))
    #expect(stored.photo == bytes(5000))
    #expect(stored.caption == bytes(6000))
    #expect(stored.track.points.count == 3000)
  }

  /// Who deletes a model that is inserted again.
  enum Deletion: CaseIterable { case here, elsewhere }

  @Test(arguments: Deletion.allCases, [false, true])
  func `comes back with a model that is inserted again, if it was read`(
    deletion: Deletion,
    isRead: Bool
  ) throws {
    try store(makeLarge())
    let context = try open()
    let snap = try first(context)
    #expect(snap.title == "a")
    if isRead { _ = (snap.photo, snap.caption, snap.track) }
    if deletion == .elsewhere {
      let other = ModelContext(context.container)
      other.delete(try first(other))
      try other.save()
    }
    context.delete(snap)
    try context.save()
    context.insert(snap)
    try context.save()
    let stored = try first(ModelContext(context.container))
    #expect(stored.title == "a")
    #expect(stored.photo == (isRead ? bytes(5000) : nil))
    #expect(stored.caption == (isRead ? bytes(6000) : Data()))
    #expect(stored.track.points.count == (isRead ? 3000 : 0))
    #expect(snap.photo == stored.photo && snap.caption == stored.caption)
  }

  @Test func `lets a model be deleted whose file is damaged, also where it can be undone`() throws {
    try store(makeLarge())
    for file in files { try FileManager.default.removeItem(at: file) }
    let context = try open()
    context.undoManager = UndoManager()
    let snap = try first(context)
    context.delete(snap)
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Snap>()) == 0)
    context.undoManager?.undo()
    try context.save()
    #expect(try first(ModelContext(context.container)).title == "a")
  }

  @Test func `is in the row, in a store in memory`() throws {
    let configuration = ModelConfiguration(isStoredInMemoryOnly: true)
    let context = ModelContext(try ModelContainer(for: Snap.self, configurations: configuration))
    context.insert(Snap("a", photo: bytes(200_000)))
    try context.save()
    let other = ModelContext(context.container)
    #expect(try first(other).photo == bytes(200_000))
  }
}

// Versions of one app's model whose photo is stored in its row, in a file, and in its row again.

enum InRow {
  @Model final class Picture {
    var title: String
    var photo: Data?
    init(_ title: String, _ photo: Data?) {
      self.title = title
      self.photo = photo
    }
  }
}

enum InFile {
  @Model final class Picture {
    var title: String
    @Attribute(.externalStorage) var photo: Data?
    init(_ title: String, _ photo: Data?) {
      self.title = title
      self.photo = photo
    }
  }
}

enum InFileRenamed {
  @Model final class Picture {
    var title: String
    @Attribute(.externalStorage, originalName: "photo") var image: Data?
    init(_ title: String, _ image: Data?) {
      self.title = title
      self.image = image
    }
  }
}

@Suite struct `An attribute whose storage changes from one version to the next` {
  let folder: TemporaryFolder
  let url: URL

  init() throws {
    folder = try TemporaryFolder()
    url = folder.url.appending(path: "pictures.store")
  }

  func open(_ type: any PersistentModel.Type) throws -> ModelContext {
    var configuration = LogStoreConfiguration(url: url)
    configuration.externalStorageThreshold = 100
    return ModelContext(
      try ModelContainer(for: Schema([type]), configurations: [configuration])
    )
  }

  @Test func `keeps its values on the way into files and back`() throws {
    try {
      let context = try open(InRow.Picture.self)
      context.insert(InRow.Picture("a", bytes(500)))
      context.insert(InRow.Picture("b", nil))
      try context.save()
    }()
    try {
      let context = try open(InFile.Picture.self)
      let all = FetchDescriptor<InFile.Picture>(sortBy: [SortDescriptor(\.title)])
      let pictures = try context.fetch(all)
      #expect(pictures.map(\.photo) == [bytes(500), nil])
      pictures[0].title = "A"
      pictures[1].photo = bytes(600)
      context.insert(InFile.Picture("c", bytes(700)))
      try context.save()
      #expect(pictures.map(\.photo) == [bytes(500), bytes(600)])
    }()
    try {
      let context = try open(InRow.Picture.self)
      let all = FetchDescriptor<InRow.Picture>(sortBy: [SortDescriptor(\.title)])
      #expect(try context.fetch(all).map(\.photo) == [bytes(500), bytes(600), bytes(700)])
    }()
    let context = try open(InFile.Picture.self)
    let all = FetchDescriptor<InFile.Picture>(sortBy: [SortDescriptor(\.title)])
    #expect(try context.fetch(all).map(\.photo) == [bytes(500), bytes(600), bytes(700)])
  }

  @Test func `keeps its values if it is renamed at the same time`() throws {
    try {
      let context = try open(InRow.Picture.self)
      context.insert(InRow.Picture("a", bytes(500)))
      try context.save()
    }()
    let context = try open(InFileRenamed.Picture.self)
    #expect(try context.fetch(FetchDescriptor<InFileRenamed.Picture>()).first?.image == bytes(500))
  }
}
