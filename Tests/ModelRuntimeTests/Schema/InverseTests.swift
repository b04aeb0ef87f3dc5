import Testing

@testable import ModelRuntime

@Suite struct `The inverse of a relationship` {
  @Test func `is inferred when there is exactly one candidate`() throws {
    final class School: Described, DescribedModel {
      var students: [Student] = []
      class var schemaMetadata: [Schema.PropertyMetadata] { [.init("students", \School.students)] }
    }
    final class Student: Described, DescribedModel {
      // The to-one side need not be optional.
      var school: School { School() }
      class var schemaMetadata: [Schema.PropertyMetadata] { [.init("school", \Student.school)] }
    }
    let schema = Schema([School.self])
    #expect(schema.complaint == nil)
    let students = try #require(schema.entitiesByName["School"]?.relationshipsByName["students"])
    let school = try #require(schema.entitiesByName["Student"]?.relationshipsByName["school"])
    #expect(students.inverseName == "school")
    #expect(students.inverseKeyPath == \Student.school)
    #expect(school.inverseName == "students")
    #expect(!school.isOptional && school.isToOneRelationship)
  }

  @Test func `is what either side says, and the rest is inferred`() throws {
    final class Airport: Described, DescribedModel {
      var departures: [Flight] = []
      var arrivals: [Flight]?
      class var schemaMetadata: [Schema.PropertyMetadata] {
        [
          .init("departures", \Airport.departures, Schema.Relationship(inverse: \Flight.origin)),
          .init("arrivals", \Airport.arrivals),
        ]
      }
    }
    final class Flight: Described, DescribedModel {
      var origin: Airport?
      var destination: Airport?
      class var schemaMetadata: [Schema.PropertyMetadata] {
        [.init("origin", \Flight.origin), .init("destination", \Flight.destination)]
      }
    }
    for types: [any PersistentModel.Type] in [[Airport.self], [Flight.self]] {
      let schema = Schema(types)
      #expect(schema.complaint == nil)
      let airport = try #require(schema.entitiesByName["Airport"])
      let flight = try #require(schema.entitiesByName["Flight"])
      #expect(airport.relationshipsByName["departures"]?.inverseName == "origin")
      #expect(airport.relationshipsByName["arrivals"]?.inverseName == "destination")
      #expect(flight.relationshipsByName["origin"]?.inverseName == "departures")
      #expect(flight.relationshipsByName["destination"]?.inverseKeyPath == \Airport.arrivals)
      #expect(airport.relationshipsByName["arrivals"]?.isOptional == true)
      #expect(airport.relationshipsByName["arrivals"]?.isToOneRelationship == false)
    }
  }

  @Test func `is not guessed between relationships of a class with itself`() throws {
    final class Person: Described, DescribedModel {
      var mentor: Person?
      var friends: [Person] = []
      class var schemaMetadata: [Schema.PropertyMetadata] {
        [.init("mentor", \Person.mentor), .init("friends", \Person.friends)]
      }
    }
    let schema = Schema([Person.self])
    #expect(schema.complaint == nil)
    let person = try #require(schema.entitiesByName["Person"])
    #expect(person.relationships.allSatisfy { $0.inverseName == nil })
  }

  @Test func `may be named between relationships of a class with itself`() throws {
    final class Node: Described, DescribedModel {
      var parent: Node?
      var children: [Node] = []
      var twin: Node?
      class var schemaMetadata: [Schema.PropertyMetadata] {
        [
          .init("parent", \Node.parent),
          .init("children", \Node.children, Schema.Relationship(inverse: \Node.parent)),
          .init("twin", \Node.twin, Schema.Relationship(inverse: \Node.twin)),
        ]
      }
    }
    let schema = Schema([Node.self])
    #expect(schema.complaint == nil)
    let node = try #require(schema.entitiesByName["Node"])
    #expect(node.relationshipsByName["parent"]?.inverseName == "children")
    #expect(node.relationshipsByName["twin"]?.inverseName == "twin")
  }

  @Test func `is found in a superclass and in a subclass`() throws {
    class Vehicle: Described, DescribedModel {
      var owner: Owner?
      class var schemaMetadata: [Schema.PropertyMetadata] { [.init("owner", \Vehicle.owner)] }
    }
    final class Truck: Vehicle {
      var depot: Depot?
      override class var schemaMetadata: [Schema.PropertyMetadata] {
        [.init("depot", \Truck.depot)]
      }
    }
    final class Owner: Described, DescribedModel {
      var vehicles: [Vehicle] = []
      class var schemaMetadata: [Schema.PropertyMetadata] { [.init("vehicles", \Owner.vehicles)] }
    }
    final class Depot: Described, DescribedModel {
      var trucks: [Truck] = []
      class var schemaMetadata: [Schema.PropertyMetadata] { [.init("trucks", \Depot.trucks)] }
    }
    let schema = Schema([Vehicle.self, Truck.self])
    #expect(schema.complaint == nil)
    let truck = try #require(schema.entitiesByName["Truck"])
    #expect(truck.relationshipsByName["depot"]?.inverseName == "trucks")
    #expect(truck.relationshipsByName["owner"]?.inverseName == "vehicles")
  }

  @Test func `that cannot be decided is reported with the candidates`() {
    final class Airport: Described, DescribedModel {
      var flights: [Flight] = []
      class var schemaMetadata: [Schema.PropertyMetadata] { [.init("flights", \Airport.flights)] }
    }
    final class Flight: Described, DescribedModel {
      var origin: Airport?
      var destination: Airport?
      class var schemaMetadata: [Schema.PropertyMetadata] {
        [.init("origin", \Flight.origin), .init("destination", \Flight.destination)]
      }
    }
    #expect(
      Schema([Airport.self]).complaint == """
        Airport.flights could have the inverse Flight.origin or Flight.destination: \
        name one with @Relationship(inverse:)
        """
    )
  }

  @Test func `that two relationships claim is reported`() {
    final class Team: Described, DescribedModel {
      var captain: Player?
      var coach: Player?
      class var schemaMetadata: [Schema.PropertyMetadata] {
        [
          .init("captain", \Team.captain, Schema.Relationship(inverse: \Player.team)),
          .init("coach", \Team.coach, Schema.Relationship(inverse: \Player.team)),
        ]
      }
    }
    final class Player: Described, DescribedModel {
      var team: Team?
      class var schemaMetadata: [Schema.PropertyMetadata] { [.init("team", \Player.team)] }
    }
    #expect(
      Schema([Team.self]).complaint == """
        Team.coach has the inverse Player.team, but Player.team already has the inverse Team.captain
        """
    )
  }

  @Test func `that two lists of a class claim is the first one's`() throws {
    final class Team: Described, DescribedModel {
      var players: [Player] = []
      var reserves: [Player] = []
      class var schemaMetadata: [Schema.PropertyMetadata] {
        [
          .init("players", \Team.players, Schema.Relationship(inverse: \Player.team)),
          .init("reserves", \Team.reserves, Schema.Relationship(inverse: \Player.team)),
        ]
      }
    }
    final class Player: Described, DescribedModel {
      var team: Team?
      class var schemaMetadata: [Schema.PropertyMetadata] { [.init("team", \Player.team)] }
    }
    let schema = Schema([Team.self])
    #expect(schema.complaint == nil)
    let expected = [
      ("Team", "players", "team"), ("Team", "reserves", nil), ("Player", "team", "players"),
    ]
    for (entity, name, inverse) in expected {
      let entity = try #require(schema.entitiesByName[entity])
      #expect(entity.relationshipsByName[name]?.inverseName == inverse)
      let descriptor = ModelDescriptor.of(try #require(entity.modelType))
      #expect(descriptor.property(named: name)?.inverse?.name == inverse)
    }
  }

  enum Place: CaseIterable { case owner, members }

  @Test(arguments: Place.allCases)
  func `of a to-one is the list that it names, wherever that is declared`(first: Place) throws {
    final class Yard: Described, DescribedModel {
      var trailing: [Plant] = []
      var leading: [Plant] = []
      var hanging: [Plant] = []
      class var schemaMetadata: [Schema.PropertyMetadata] {
        [
          .init("trailing", \Yard.trailing, Schema.Relationship(inverse: \Plant.yard)),
          .init("leading", \Yard.leading),
          .init("hanging", \Yard.hanging, Schema.Relationship(inverse: \Plant.yard)),
        ]
      }
    }
    final class Plant: Described, DescribedModel {
      var yard: Yard?
      class var schemaMetadata: [Schema.PropertyMetadata] {
        [.init("yard", \Plant.yard, Schema.Relationship(inverse: \Yard.leading))]
      }
    }
    let schema = Schema(first == .owner ? [Yard.self, Plant.self] : [Plant.self, Yard.self])
    #expect(schema.complaint == nil)
    let expected = [
      ("Yard", "trailing", nil), ("Yard", "leading", "yard"), ("Yard", "hanging", nil),
      ("Plant", "yard", "leading"),
    ]
    for (entity, name, inverse) in expected {
      let entity = try #require(schema.entitiesByName[entity])
      #expect(entity.relationshipsByName[name]?.inverseName == inverse, "\(name)")
      let descriptor = ModelDescriptor.of(try #require(entity.modelType))
      #expect(descriptor.property(named: name)?.inverse?.name == inverse, "\(name)")
    }
  }

  @Test(arguments: Place.allCases)
  func `that names another one is reported, in any order of the classes`(first: Place) {
    final class Team: Described, DescribedModel {
      var captain: Player?
      var coach: Player?
      class var schemaMetadata: [Schema.PropertyMetadata] {
        [
          .init("captain", \Team.captain, Schema.Relationship(inverse: \Player.team)),
          .init("coach", \Team.coach),
        ]
      }
    }
    final class Player: Described, DescribedModel {
      var team: Team?
      class var schemaMetadata: [Schema.PropertyMetadata] {
        [.init("team", \Player.team, Schema.Relationship(inverse: \Team.coach))]
      }
    }
    let schema = Schema(first == .owner ? [Team.self, Player.self] : [Player.self, Team.self])
    #expect(
      schema.complaint == """
        Team.captain has the inverse Player.team, but Player.team already has the inverse Team.coach
        """
    )
  }

  @Test func `that leads elsewhere is reported`() {
    final class Book: Described, DescribedModel {
      var author: Author?
      var editor: Editor?
      class var schemaMetadata: [Schema.PropertyMetadata] {
        [
          .init("author", \Book.author, Schema.Relationship(inverse: \Author.agent)),
          .init("editor", \Book.editor, Schema.Relationship(inverse: \Editor.name)),
        ]
      }
    }
    final class Author: Described, DescribedModel {
      var agent: Editor?
      class var schemaMetadata: [Schema.PropertyMetadata] { [.init("agent", \Author.agent)] }
    }
    final class Editor: Described, DescribedModel {
      var name = ""
      class var schemaMetadata: [Schema.PropertyMetadata] { [.init("name", \Editor.name)] }
    }
    let complaint = Schema([Book.self]).complaint ?? ""
    #expect(
      complaint.contains(
        "Book.author has the inverse Author.agent, which leads to Editor instead of Book"
      )
    )
    #expect(complaint.contains("which is no relationship of Editor"))
  }
}
