enum WebTestStub {}
