"""Fifty short everyday texts, whose answers by the bundled model are frozen."""

TEXTS = """\
Kate told Mary that she should leave.
John met Peter before he went home.
Anna called Julia because she had forgotten her keys.
Tom thanked Bill for the help that he had given.
The nurse asked Laura whether she was in pain.
When Mark saw David, he smiled.
Susan's mother says that she sings well.
Paul lent his brother James a bicycle, and he broke it.
Emma wrote to Grace, but she never answered.
After George had cooked for Henry, he washed the dishes.
Alice envied Helen because she had won the prize.
Robert apologised to Frank because he had shouted.
Lucy and Rose went swimming, and her towel got lost.
Daniel, whom Martin admires, says that he is tired.
Sarah bought Nina a ticket, for she loves the opera.
Oliver's uncle Jack moved to Leeds, where he opened a bakery.
Before Clara left, Marie gave her an umbrella.
Simon promised Alan that he would pay the bill.
Simon persuaded Alan that he should pay the bill.
Ruth visited Edith in hospital after she had fallen off a ladder.
Max does not know why Leo is angry with him.
Olivia showed Sophie a picture of herself.
Philip told Andrew about his new job.
Jane's dog bit Carol, and she took it to the vet.
Arthur passed the ball to Walter, and he scored.
Because she was late, Monica did not meet Rachel.
Mrs Brown asked Miss Green if she wanted tea.
Mr White fired Mr Black after he had lied about the money.
Jack and Jill went up the hill, and he fell down.
Betty painted the fence while Dora mowed the lawn; she finished first.
Steven beat Ian at chess although he had never lost before.
Vera waited for Irene at the station until she arrived.
"I am leaving," said Nora to Amy, and she closed the door.
Ben borrowed a pen from Sam and forgot to give it back to him.
Diana is taller than Eva, so she changed the light bulb.
Charles has known Edward since he was a child.
The teacher praised Hannah and told Leah that her essay was too long.
Luke drove Adam to the airport because his flight was at six.
Margaret taught Joan how to swim when she was five.
Ralph asked Hugh to turn down the music because he had to study.
Zoe phoned Ivy. She was out.
Fred is Gavin's cousin. He lives in Bath.
Pamela met Teresa's sister. She is a lawyer.
Nobody told Victor that Eric had sold his car.
Brenda forgave Wendy, who had read her diary.
Colin gave Derek his coat, for he was cold.
Lily hid behind Molly because she was shy.
Ray and his son Toby went fishing, and he caught a trout.
Iris begged Pearl not to tell anyone what she had done.
It was raining when they left.
""".splitlines()
