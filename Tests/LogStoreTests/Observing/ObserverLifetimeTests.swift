import Foundation
import SwiftData
import Testing

@Suite struct `An observer` {
  @Test func `keeps its context, and is not kept by it`() throws {
    let container = try makeShelves()
    weak var context: ModelContext?
    weak var observer: ResultsObserver<Volume, Never>?
    do {
      let own = ModelContext(container)
      let kept = try ResultsObserver<Volume, Never>(modelContext: own)
      context = own
      observer = kept
      #expect(kept.modelContext === own)
    }
    #expect(observer == nil)
    #expect(context == nil)
  }

  @Test func `goes away although its models, and the code that tracks it, stay`() throws {
    let context = ModelContext(try makeShelves())
    let volumes = try context.addVolumes("ab")
    let notices = Notices()
    weak var observer: ResultsObserver<Volume, Never>?
    do {
      let kept = try ResultsObserver(sortBy: [SortDescriptor(\Volume.title)], modelContext: context)
      observer = kept
      notices.track { _ = kept.results }
      volumes[0].title = "c"
    }
    #expect(observer == nil)
    volumes[1].title = "d"
    try context.save()
    #expect(notices.count == 1)
  }

  @Test func `leaves its context as it found it`() throws {
    let container = try makeShelves()
    let context = ModelContext(container)
    let volume = try context.addVolumes("a")[0]
    _ = try ResultsObserver<Volume, Never>(modelContext: context)
    let same = try ModelContext(container).fetch(FetchDescriptor<Volume>())[0]
    same.title = "b"
    try same.modelContext?.save()
    context.processPendingChanges()
    #expect(volume.title == "a")
  }

  @Test func `ends what it began when its first fetch throws`() throws {
    let context = ModelContext(try makeShelves())
    #expect(throws: SwiftDataError.self) {
      _ = try ResultsObserver<Badge, Never>(modelContext: context)
    }
    context.insert(Volume("a"))
    try context.save()
  }

  @Test(.timeLimit(.minutes(30)))
  func `held by a model actor goes away with it`() async throws {
    let container = try makeShelves()
    weak var watcher: Watcher?
    do {
      let kept = Watcher(modelContainer: container)
      try await kept.start()
      watcher = kept
    }
    // The actor's last job may still be on its way out.
    while watcher != nil, !Task.isCancelled { await Task.yield() }
    #expect(watcher == nil)
  }
}
