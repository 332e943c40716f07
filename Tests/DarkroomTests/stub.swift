enum DarkroomTestStub {}
