import ArgumentParser
import LogEngine
import Terminal
import Testing

@testable import logstore_inspect

@Suite struct `A move of the inspector` {
  private let session = Session(disk: SteadyFileSystem())

  @Test(
    arguments: [
      ("postgresql://host/a", true), ("dbname=a host=/tmp", true), ("host=/tmp", true),
      ("trips.store", false), ("/srv/trips.store", false), ("./a=b.store", false),
      ("/srv/a=b.store", false),
    ]
  )
  func `tells an address from a folder`(place: String, isServer: Bool) {
    #expect(MoveCommand.isServer(place) == isServer)
  }

  @Test(
    arguments: [
      ["a.store", "b.store"], ["postgresql://host/a", "postgres://host/b"],
      ["host=/tmp dbname=a", "user=b"],
    ]
  )
  func `is between a folder and a server`(places: [String]) throws {
    #expect(throws: (any Error).self) { try Inspect.parseAsRoot(["move"] + places) }
  }

  #if !PostgreSQL
  @Test func `needs a build with the trait, and says so`() throws {
    let result = try session.run("move", "a.store", "postgresql://ann:secret@host/a")
    #expect(result.status == .usage)
    #expect(result.error?.what == "this build knows no servers")
    #expect(result.error?.expected?.contains("trait PostgreSQL") == true)
    #expect("\(String(describing: result.error))".contains("secret") == false)
  }
  #endif
}
