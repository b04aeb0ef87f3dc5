#if !canImport(Darwin)
import Foundation
import Testing

@testable import ModelRuntime

@Suite struct `Folders that Foundation has on Apple's platforms` {
  @Test func `are the user's`() {
    let support = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)
    #expect(URL.applicationSupportDirectory == support.first)
    let documents = FileManager.default.urls(for: .documentDirectory, in: .userDomainMask)
    #expect(URL.documentsDirectory == documents.first)
    let all: [URL] = [
      .cachesDirectory, .desktopDirectory, .downloadsDirectory, .libraryDirectory,
      .moviesDirectory, .musicDirectory, .picturesDirectory, .sharedPublicDirectory,
      .trashDirectory,
    ]
    for url in all {
      #expect(url.isFileURL && url.path.hasPrefix("/") && url.path != "/", "\(url)")
    }
  }

  @Test func `are there for a group, made if they are missing`() throws {
    let group = "group.logstore.tests.\(UUID().uuidString)"
    let container = try #require(
      FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: group)
    )
    defer { try? FileManager.default.removeItem(at: container) }
    #expect(try container.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true)
    #expect(container.path.hasPrefix(URL.applicationSupportDirectory.path))
    #expect(
      FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: group) == container
    )
  }

  @Test(arguments: ["", ".", "..", "a/b", "../a", "a\0b"])
  func `are not where a group's name leads elsewhere`(group: String) {
    #expect(FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: group) == nil)
  }
}

@Suite struct `The absolute time` {
  @Test func `is that of a date`() {
    let before = Date().timeIntervalSinceReferenceDate
    let now = CFAbsoluteTimeGetCurrent()
    #expect(before <= now && now <= Date().timeIntervalSinceReferenceDate)
  }
}

@Suite struct `A sequence of notifications` {
  private let center = NotificationCenter()
  private let name = Notification.Name("saved")

  @Test func `has what is posted from the making of its iterator on, in order`() async {
    let all = center.notifications(named: name)
    center.post(name: name, object: nil, userInfo: ["number": 0])
    var iterator = all.makeAsyncIterator()
    for number in 1...3 { center.post(name: name, object: nil, userInfo: ["number": number]) }
    for number in 1...3 {
      #expect(await iterator.next()?.userInfo?["number"] as? Int == number)
    }
  }

  @Test func `has those of its name and its object only`() async {
    let (own, other) = (NSObject(), NSObject())
    var iterator = center.notifications(named: name, object: own).makeAsyncIterator()
    center.post(name: Notification.Name("other"), object: own)
    center.post(name: name, object: other)
    center.post(name: name, object: own)
    #expect(await iterator.next()?.object as? NSObject === own)
  }

  @Test func `ends with its task`() async {
    let all = center.notifications(named: name)
    let task = Task {
      var count = 0
      for await _ in all { count += 1 }
      return count
    }
    task.cancel()
    #expect(await task.value == 0)
  }

  @MainActor @Test func `is waited for on an actor, for saves`() async throws {
    let container = try makeLibrary()
    let context = container.mainContext
    var saves = NotificationCenter.default
      .notifications(named: ModelContext.didSave, object: context).makeAsyncIterator()
    let book = Book(title: "News")
    context.insert(book)
    try context.save()
    let note = await saves.next()
    #expect(note?.object as? ModelContext === context)
    let inserted = note?.userInfo?[ModelContext.NotificationKey.insertedIdentifiers.rawValue]
    #expect(inserted as? [PersistentIdentifier] == [book.persistentModelID])
  }
}

@Suite struct `A localized text` {
  private let english = Locale(identifier: "en_US")

  @Test func `is itself where there is no table`() {
    #expect(String(localized: "Trips") == "Trips")
    #expect(String(localized: "100%") == "100%")
    #expect(String(localized: "title", defaultValue: "Trips") == "Trips")
    let resource: LocalizedStringResource = "Trips"
    #expect(String(localized: resource) == "Trips")
    #expect(resource.key == "Trips")
  }

  @Test func `has in it what is between its words`() {
    let (count, place) = (3, "Rome")
    #expect(String(localized: "\(count) trips to \(place)", locale: english) == "3 trips to Rome")
    #expect(String(localized: "\(2.5, specifier: "%.2f") km", locale: english) == "2.50 km")
    #expect(String(localized: "\(7, specifier: "%03d")", locale: english) == "007")
    #expect(String(localized: "\(place): %@ stays", locale: english) == "Rome: %@ stays")
    #expect(String(localized: "\(Optional(1) as Any)", locale: english) == "Optional(1)")
    let resource: LocalizedStringResource = "\(count) trips"
    #expect(resource.key == "%lld trips")
    #expect(String(localized: "All: \(resource)", locale: english) == "All: 3 trips")
    #expect(
      String(localized: "k", defaultValue: "\(count) of \(1_234_567)", locale: english)
        == "3 of 1,234,567"
    )
  }

  @Test func `has the percent signs that are written in it, whatever comes behind them`() {
    let (used, total, level, device) = (40, 512, 80, "Phone")
    #expect(
      String(localized: "\(used)% of \(total) GB", locale: english) == "40% of 512 GB"
    )
    #expect(
      String(localized: "Battery at \(level)% on \(device)", locale: english)
        == "Battery at 80% on Phone"
    )
    #expect(String(localized: "50%% or %d, \(device)%", locale: english) == "50%% or %d, Phone%")
    let resource: LocalizedStringResource = "\(used)% of \(total) GB"
    #expect(resource.key == "%lld%% of %lld GB")
    #expect(String(localized: resource) == "40% of 512 GB")
    var words = String.LocalizationValue.StringInterpolation(
      literalCapacity: 11,
      interpolationCount: 0
    )
    words.appendLiteral("100% of all")
    #expect(String(localized: .init(stringInterpolation: words)) == "100% of all")
  }

  @Test func `is found in the table of a bundle, which may change the order`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    let language = folder.appending(path: "en.lproj")
    try FileManager.default.createDirectory(at: language, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let table = """
      "%lld trips to %@" = "%2$@: %1$lld trips, 100%%";
      "title" = "Journeys";
      "%lf km" = "%.1f kilometres";
      "%lld%% of %lld GB" = "%1$lld%% de %2$lld Go";
      """
    try Data(table.utf8).write(to: language.appending(path: "Localizable.strings"))
    try Data(table.utf8).write(to: folder.appending(path: "Localizable.strings"))
    let bundle = try #require(Bundle(path: folder.path))
    #expect(
      String(localized: "\(3) trips to \("Rome")", bundle: bundle, locale: english)
        == "Rome: 3 trips, 100%"
    )
    #expect(String(localized: "title", defaultValue: "Trips", bundle: bundle) == "Journeys")
    #expect(String(localized: "\(2.25) km", bundle: bundle, locale: english) == "2.2 kilometres")
    #expect(
      String(localized: "\(40)% of \(512) GB", bundle: bundle, locale: english)
        == "40% de 512 Go"
    )
    #expect(String(localized: "absent \(1)", bundle: bundle, locale: english) == "absent 1")
  }
}

@Suite struct `A comparator of the standard library's type` {
  private func sort(
    _ texts: [String],
    comparator: String.StandardComparator = .localizedStandard
  ) -> [String] { texts.sorted(using: comparator) }

  @Test func `is a default argument`() {
    #expect(sort(["file10", "file2", "File1"]) == ["File1", "file2", "file10"])
    #expect(sort(["b", "a"], comparator: .localized) == ["a", "b"])
    #expect(sort(["b", "B"], comparator: .lexical) == ["B", "b"])
  }

  @Test func `orders what a store sorts in the user's language`() throws {
    // By its code "é" comes after "f".
    let (standard, localized) = (
      try #require(TextOrder(.localizedStandard)), try #require(TextOrder(.localized))
    )
    #expect(standard.compare("é", "f") == .orderedAscending)
    #expect(localized.compare("é", "f") == .orderedAscending)
    #expect(standard.compare("file2", "file10") == .orderedAscending)
  }

  @Test func `is no order of its own where it is that of texts themselves`() {
    #expect(TextOrder(.lexical) == nil)
    let texts = ["", "a", "é", "e\u{301}", "f", "B", "\u{1F600}", "\u{E000}", "ß", "한", "a\u{0}"]
    for lhs in texts {
      for rhs in texts {
        let order: ComparisonResult =
          lhs < rhs ? .orderedAscending : lhs == rhs ? .orderedSame : .orderedDescending
        #expect(String.StandardComparator.lexical.compare(lhs, rhs) == order, "\(lhs), \(rhs)")
      }
    }
  }

  @Test func `is told from the others, in either order`() {
    let comparators: [String.StandardComparator] = [.localizedStandard, .localized, .lexical]
    #expect(Set(comparators).count == 3)
    var reversed = String.StandardComparator.localizedStandard
    reversed.order = .reverse
    #expect(reversed != .localizedStandard)
    #expect(["file2", "file10"].sorted(using: reversed) == ["file10", "file2"])
  }
}
#endif
