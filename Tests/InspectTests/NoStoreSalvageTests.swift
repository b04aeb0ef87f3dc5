import LogEngine
import Terminal
import Testing

@testable import logstore_inspect

@Suite struct `A salvage of what is no store` {
  @Test(arguments: [[], ["letter.txt"], ["log/letter.txt"], ["LOCK"]])
  func `makes none, and says that there is none`(names: [String]) throws {
    let store = try TownStore()
    for folder in ["drawer", "drawer/log"] { try store.disk.makeDirectory(folder) }
    for name in names { _ = try store.disk.open("drawer/" + name, .create) }
    let result = try Session(disk: store.disk).run("salvage", "drawer", "saved.store")
    #expect(result.error?.what == "there is no store", "\(result.transcript)")
    #expect(result.status == .usage)
    #expect(try store.disk.list("saved.store") == nil)
  }

  @Test func `of which every file is empty makes none, and says that nothing could be saved`()
    throws
  {
    let store = try TownStore()
    for folder in [store.path, store.path + "/log", store.path + "/index", store.path + "/packs"] {
      for name in try store.disk.list(folder) ?? [] {
        let path = folder + "/" + name
        if try store.disk.list(path) == nil { _ = try store.disk.open(path, .create) }
      }
    }
    let result = try Session(disk: store.disk).run("salvage", store.path, "saved.store")
    #expect(result.status == .damaged, "\(result.transcript)")
    #expect(result.error?.what.hasPrefix("nothing could be saved") ?? false)
    #expect(try store.disk.list("saved.store") == nil)
  }
}
