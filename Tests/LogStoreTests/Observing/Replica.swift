import Foundation
import SwiftData
import Testing

/// A consumer that knows of an observer's results only by their changes.
final class Replica<Title: Hashable> {
  let cursor: ResultsCursor<Volume, Title>
  private(set) var volumes: [Volume] = []
  private var sections: [(title: Title, volumes: [Volume])] = []
  /// What a list would show of each.
  private var drawn: [ObjectIdentifier: Drawing] = [:]

  init(_ observer: ResultsObserver<Volume, Title>) { cursor = observer.makeCursor() }

  /// Applies what changed since the last time, and compares what comes out with the results.
  func follow(_ observer: ResultsObserver<Volume, Title>, _ place: String) throws {
    let change = cursor.advance()
    let results = Array(observer.results)
    if let change { try apply(change, place) }
    #expect(volumes.elementsEqual(results, by: ===), "\(place)")
    for volume in results {
      let (seen, now) = (drawn[ObjectIdentifier(volume)], volume.drawing)
      #expect(seen == now, "\(place): \(volume.title) was not drawn again")
    }
    if let expected = observer.sections {
      #expect(sections.map(\.title) == expected.sectionTitles, "\(place)")
      #expect(
        sections.map { $0.volumes.map(ObjectIdentifier.init) }
          == expected.map { $0.map(ObjectIdentifier.init) },
        "\(place)"
      )
    }
    #expect(cursor.advance().map { _ in true } == nil, "\(place) changed by itself")
  }

  private func apply(_ change: ResultsChange<Volume, Title>, _ place: String) throws {
    let former = Set(volumes.map(ObjectIdentifier.init))
    volumes = try #require(volumes.applying(change.difference), "\(place)")
    #expect(volumes.elementsEqual(change.results, by: ===), "\(place)")
    var inserted: Set<ObjectIdentifier> = []
    for case .insert(_, let volume, let origin) in change.difference {
      inserted.insert(ObjectIdentifier(volume))
      #expect((origin != nil) == former.contains(ObjectIdentifier(volume)), "\(place)")
      drawn[ObjectIdentifier(volume)] = volume.drawing
    }
    for (offset, volume) in change.updated {
      #expect(change.results[offset] === volume, "\(place)")
      #expect(!inserted.contains(ObjectIdentifier(volume)), "\(place)")
      drawn[ObjectIdentifier(volume)] = volume.drawing
    }
    #expect(change.updated.map(\.offset) == change.updated.map(\.offset).sorted(), "\(place)")
    #expect(change.fetchError == nil, "\(place)")
    guard let present = change.sections else {
      #expect(change.sectionsDifference.isEmpty, "\(place)")
      return
    }
    let titles = try #require(
      sections.map(\.title).applying(change.sectionsDifference.titles),
      "\(place)"
    )
    sections = try titles.map { title in
      guard let old = sections.first(where: { $0.title == title }) else {
        return (title, Array(try #require(present[sectionTitle: title])))
      }
      guard let difference = change.sectionsDifference.members[title] else { return old }
      return (title, try #require(old.volumes.applying(difference), "\(place)"))
    }
  }
}

/// Everything of its own that a list could show of a volume.
private struct Drawing: Equatable {
  let text: String
  /// Held, so that no other shelf is taken for it.
  let shelf: Shelf?
}

extension Volume {
  fileprivate var drawing: Drawing {
    let due = due?.timeIntervalSince1970 ?? -1
    return Drawing(
      text: "\(title) \(pages) \(weight) \(genre ?? "-") \(due) \(persistentModelID)",
      // One that is deleted, and shown until that is saved, loses it without notice.
      shelf: isDeleted ? nil : shelf
    )
  }
}
