import Foundation
import ModelRuntime
import SwiftData
import Testing

@testable import LogStore

@Suite struct `The place of a store that names none` {
  let folder: TemporaryFolder
  var former: URL { folder.url.appending(path: "default.store") }
  var own: URL { folder.url.appending(path: "notes/default.store") }

  init() throws { folder = try TemporaryFolder() }

  private func request(_ types: [any PersistentModel.Type] = [NotesV2.Note.self]) -> StoreRequest {
    StoreRequest(ModelConfiguration("default", schema: Schema(types), url: own), nil)
  }

  private func write(_ types: [any PersistentModel.Type], at url: URL) throws {
    _ = try ModelContainer(for: Schema(types), configurations: [LogStoreConfiguration(url: url)])
  }

  #if !canImport(Darwin)
  @Test(arguments: [nil, "other"])
  func `is a folder of the program`(name: String?) {
    let url = ModelConfiguration(name).url
    #expect(url.lastPathComponent == "\(name ?? "default").store")
    #expect(url.deletingLastPathComponent().lastPathComponent == ModelConfiguration.program)
  }
  #endif

  @Test func `is the former one if this program's models are there, and stays it`() throws {
    let place = DefaultPlace(former: former, program: "notes")
    #expect(!place.isFormer(request()))
    try write([NotesV2.Note.self], at: former)
    #expect(place.isFormer(request()))
    let lease = try StoreLease.open(StoreRequest(LogStoreConfiguration(url: former), nil))
    try place.claim(lease.tables.engine)
    try lease.end()
    #expect(place.isFormer(request()))
    #expect(!DefaultPlace(former: former, program: "other").isFormer(request()))
    // Whatever it is that this program declares by now.
    #expect(place.isFormer(request([Ticket.self])))
  }

  @Test func `is not the former one if others' models are there, or it cannot be brought along`()
    throws
  {
    let place = DefaultPlace(former: former, program: "notes")
    try write([NotesV2.Note.self, Ticket.self], at: former)
    #expect(!place.isFormer(request()))
    #expect(place.isFormer(request([NotesV2.Note.self, Ticket.self])))
    // Its `count` is a text here.
    #expect(!place.isFormer(request([OtherNotes.Note.self, Ticket.self])))
  }

  @Test func `is the program's own as soon as there is a store`() throws {
    try write([NotesV2.Note.self], at: former)
    try write([NotesV2.Note.self], at: own)
    #expect(!DefaultPlace(former: former, program: "notes").isFormer(request()))
  }

  @Test func `is not the former one if that cannot be read`() throws {
    try FileManager.default.createDirectory(at: former, withIntermediateDirectories: true)
    try Data("?".utf8).write(to: former.appending(path: "manifest.0000000000000001"))
    #expect(!DefaultPlace(former: former, program: "notes").isFormer(request()))
  }
}

/// Notes of another program.
enum OtherNotes {
  @Model final class Note {
    var count: String
    init(count: String) { self.count = count }
  }
}
